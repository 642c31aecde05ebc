"""Commands that write many results, or read them, are killed before each of their file operations in turn."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradcon import Options, Result, Scene, estimate, estimate_views, read_views, synth
from gradcon.cli import main
from gradcon.errors import InputError
from stopping import kill_at_every_step, once, run

QUICK = ["--engine", "reference", "--method", "gcm", "--solves", "1"]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="a command is stopped in a forked process"),
]


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny scene, a video of two frames, and a result of each kind."""
    root = tmp_path_factory.mktemp("scenes")
    synth.write("planes", root / "scene", (16, 16), views=3)
    for frame in range(2):
        synth.write("planes", root / f"still{frame}", (16, 16), views=3, seed=frame)
        for camera, image in enumerate(sorted((root / f"still{frame}").glob("*.png"))):
            place = root / "video" / f"cam_0_{camera}"
            place.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(image, place / f"{frame}.png")
    assert run(lambda: main(["estimate", str(root / "scene"), "--out", str(root / "one"), *QUICK])) == 0
    assert run(lambda: main(["estimate", str(root / "scene"), "--out", str(root / "all"), "--every-view", *QUICK])) == 0
    return root


@pytest.fixture(autouse=True)
def same_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every run state the same times, and compute each map once, as only the files matter here."""
    monkeypatch.setattr(time, "perf_counter", lambda: 0.0)
    estimate_once = once(estimate)

    def many_once(scenes: Iterable[Scene], options: Options, **how: Any) -> Iterator[Result]:
        for scene in scenes:
            yield estimate_once(scene, options, engine="reference")

    monkeypatch.setattr("gradcon.estimate_views", once(estimate_views))
    monkeypatch.setattr("gradcon.cli.videos.estimate_many", many_once)


def estimated(scene: Path, out: Path, *more: str) -> int:
    return main(["estimate", str(scene), "--out", str(out), *QUICK, *more])


def test_every_view(there: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    kill_at_every_step(out, lambda: estimated(there / "scene", out / "maps", "--every-view"))


def test_every_view_in_place_of_more_views(there: Path, tmp_path: Path) -> None:
    """Nor does a reader ever find maps of both."""
    out, old, new = tmp_path / "out", tmp_path / "old", tmp_path / "new"
    names = ["input_Cam039.png", "input_Cam040.png"]
    command = lambda place: estimated(there / "still1", place, f"--references={','.join(names)}")  # noqa: E731
    run(lambda: estimated(there / "scene", old, "--every-view"))
    run(lambda: command(new))
    both = [_maps(folder) for folder in (old, new)]

    def check() -> None:
        with contextlib.suppress(InputError):
            assert _maps(out / "maps") in both

    kill_at_every_step(out, lambda: command(out / "maps"), lambda: shutil.copytree(old, out / "maps"), check)


def _maps(folder: Path) -> dict[str, bytes]:
    return {
        name: np.stack([view.disparity, view.uncertainty]).tobytes() for name, view in read_views(folder).views.items()
    }


def test_video(there: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    kill_at_every_step(out, lambda: estimated(there / "video", out / "maps"))


def test_video_with_other_parameters_and_fewer_frames(there: Path, tmp_path: Path) -> None:
    out, old = tmp_path / "out", tmp_path / "old"
    run(lambda: estimated(there / "video", old))
    command = lambda: estimated(there / "video", out / "maps", "--frames=1", "--alpha=0.3")  # noqa: E731
    kill_at_every_step(out, command, lambda: shutil.copytree(old, out / "maps"))


@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize(
    "words",
    [
        ["fuse", "{0}/all", "--out={1}/made/cloud.ply"],
        ["synthesise", "{0}/scene", "{0}/one", "--path=line", "--frames=2", "--out={1}/made/film.mp4"],
        ["refocus", "{0}/scene", "{0}/one", "--at=3,4", "--aperture=2", "--out={1}/made/view.jpg"],
        ["evaluate", "{0}/one", "{0}/scene", "--leave-out", "--picture={1}/made/failures.png"],
    ],
    ids=lambda words: " ".join(words[:1] + words[-1:]),
)
def test_one_file(there: Path, tmp_path: Path, words: list[str], replaced: bool) -> None:
    out = tmp_path / "out"
    command = [word.format(there, out) for word in words]

    def before() -> None:
        if replaced:
            (out / "made").mkdir()
            (out / "made" / Path(words[-1]).name).write_text("older")

    kill_at_every_step(out, lambda: main(command), before)
