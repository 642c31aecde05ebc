"""`gradcon doctor` finds what is wrong with the views of a scene, and shows the evidence."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from gradcon import cli, synth
from gradcon.io.images import read_image

pytestmark = pytest.mark.slow

REFERENCE, LEFT, RIGHT, TOP = (f"input_Cam0{number}.png" for number in ("40", "36", "44", "04"))
SIZE = 96
Change = Callable[[NDArray[np.uint8]], Any]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synth.write("occlusion", tmp_path_factory.mktemp("good") / "scene", (SIZE, SIZE))


@pytest.fixture
def scene(good: Path, tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(good, tmp_path / "scene"))


def change(path: Path, how: Change) -> None:
    Image.fromarray(np.clip(np.rint(how(read_image(path))), 0, 255).astype(np.uint8)).save(path)


def targets(scene: Path) -> list[Path]:
    return [path for path in sorted(scene.glob("input_Cam*.png")) if path.name != REFERENCE]


class Told:
    """What the doctor says."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> None:
        self.code = cli.main(["doctor", *map(str, arguments), "--json"])
        out, self.warnings = capsys.readouterr()
        self.found = json.loads(out)
        self.views = {view["view"]: view for view in self.found["views"]}
        self.verdicts = {name: view["verdict"] for name, view in self.views.items()}


def test_a_good_scene(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor", str(good)]) == 0
    out, err = capsys.readouterr()
    assert out.rstrip().endswith("Nothing is wrong with these views.")
    assert "WARNING" not in err
    assert "no --flip or --flip xy" in out
    told = Told(capsys, good)
    assert told.code == 0
    assert told.found["doubts"] == []
    assert set(told.verdicts.values()) == {"fits"}
    assert set(told.views) == {path.name for path in targets(good)}
    assert told.views[RIGHT]["baseline"] == [-4, 0]
    pairs = told.found["layouts"]
    assert [pair["given"] for pair in pairs] == [True, False, False, False]
    assert all(pairs[0]["difference"] < 0.93 * pair["difference"] for pair in pairs[1:])
    hidden = told.found["hidden"]
    assert hidden["nearer"] > 1.5 * hidden["farther"]


def test_gains_are_shown_and_are_no_fault(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(scene / LEFT, lambda image: 0.75 * image)
    change(scene / TOP, lambda image: 0.9 * image + 12)
    told = Told(capsys, scene)
    assert told.code == 0
    assert told.views[LEFT]["gain"] == pytest.approx([0.75] * 3, abs=0.03)
    assert told.views[TOP]["gain"] == pytest.approx([0.9] * 3, abs=0.03)
    assert told.views[TOP]["offset"] == pytest.approx([12] * 3, abs=3)
    assert told.views[RIGHT]["gain"] == pytest.approx([1] * 3, abs=0.03)


def test_exchanged_views(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = ((scene / name).read_bytes() for name in (LEFT, TOP))
    (scene / LEFT).write_bytes(second)
    (scene / TOP).write_bytes(first)
    told = Told(capsys, scene)
    assert told.code == 1
    assert told.verdicts[LEFT] == f"exchanged with {TOP}"
    assert told.verdicts[TOP] == f"exchanged with {LEFT}"
    assert told.verdicts[RIGHT] == "fits"
    assert f"WARNING: {told.found['doubts'][0]}" in told.warnings


def test_a_black_view_and_the_picture(scene: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(scene / LEFT, lambda image: 0 * image)
    told = Told(capsys, scene, "--picture", tmp_path / "maps" / "residuals.png")
    assert told.code == 1
    assert {name for name, verdict in told.verdicts.items() if verdict != "fits"} == {LEFT}
    assert told.verdicts[LEFT] == "odd"
    assert told.views[LEFT]["ratio"] > 3
    sheet = read_image(tmp_path / "maps" / "residuals.png").astype(int)
    assert 700 < sheet.shape[1] < 1300
    across, down = (sheet.shape[1] - 6) // 9, SIZE + 22  # of a tile; 9 in a row, with names below
    rows = slice(6 + 4 * down + 20, 6 + 4 * down + SIZE - 20)
    tiles = [sheet[rows, 6 + k * across + 20 : 6 + k * across + SIZE - 20].mean() for k in range(9)]
    assert tiles[0] > 2 * max(tiles[1:4] + tiles[5:])  # the fifth is the reference itself
    red = (sheet[..., 0] > 180) & (sheet[..., 1] < 80) & (sheet[..., 2] < 80)
    assert red[rows, :8].sum() > 3 * red[rows, -8:].sum()  # a frame
    assert told.found["picture"].endswith("residuals.png")


def test_views_out_of_place(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    for path in targets(scene):
        shift = tuple(rng.normal(0, 1.5, 2))
        Image.open(path).rotate(rng.normal(), Image.Resampling.BICUBIC, translate=shift).save(path)
    told = Told(capsys, scene)
    assert told.code == 1
    assert "--align" in told.found["doubts"][0]
    assert "out of place" in told.verdicts.values()
    assert np.median([view["beside"] for view in told.views.values()]) > 0.3


@pytest.mark.parametrize(("flip", "cure"), [("x", "without --flip x"), ("ty", "without --flip ty")])
def test_a_wrong_layout(good: Path, flip: str, cure: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = Told(capsys, good, "--flip", flip)
    assert told.code == 1
    assert cure in told.found["doubts"][0]
    best = min(told.found["layouts"], key=lambda pair: pair["difference"])
    assert best["flips"] == ["", "xy"] or best["flips"] == ["xy", ""]
    assert not best["given"]
    assert set(told.verdicts.values()) == {"cannot tell"}


def test_near_and_far_exchanged(good: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = Told(capsys, good, "--flip", "xy")
    assert told.code == 1
    assert "reversed" in told.found["doubts"][0]
    assert told.found["hidden"]["farther"] > told.found["hidden"]["nearer"]


def test_identical_views(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in targets(scene):
        path.write_bytes((scene / REFERENCE).read_bytes())
    told = Told(capsys, scene)
    assert told.code == 1
    assert "do not differ" in told.found["doubts"][0]
    assert set(told.verdicts.values()) == {"the same image"}


def test_two_views_and_cameras_that_form_no_grid(
    good: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pair = Told(capsys, good, "--views", "2", "--picture", tmp_path / "pair.png")
    assert len(pair.views) == 1
    rig = synth.write("rotated", tmp_path / "rig", (64, 64), views=5)
    told = Told(capsys, rig, "--picture", tmp_path / "rig.png")
    assert told.code == 0
    assert told.found["layouts"] == []
    assert (tmp_path / "pair.png").is_file()
    assert (tmp_path / "rig.png").is_file()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--picture", "maps.jpg"], "picture: maps.jpg does not end in .png"),
        (["--flip", "z"], "flip: 'z' is not one of"),
        (["--engine", "steam"], "engine"),
        (["--reference", "nobody.png"], "nobody.png"),
    ],
)
def test_wrong_options(good: Path, options: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor", str(good), *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err


def test_a_path_that_is_no_scene(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor", str(tmp_path / "nowhere")]) == 2
    assert "nowhere" in capsys.readouterr().err
