"""Submissions to the benchmark: twelve scenes in its layout, and every way in which they can be wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradcon import cli
from gradcon.errors import InputError
from gradcon.io import submission
from gradcon.io.pfm import read_pfm, write_pfm
from gradcon.io.submission import SCENES, validate

Capture = pytest.CaptureFixture[str]
VALUES = np.linspace(-2, 2, 512 * 512, dtype=np.float32).reshape(512, 512)


def result(folder: Path, scene: str, values: Any = VALUES, **more: Any) -> Path:
    """Write the files of a result that a submission needs; `more` replaces fields, given as "section__field"."""
    summary: dict[str, Any] = {
        "format": "gradcon-result-1",
        "source": {"name": scene, "reference": "input_Cam040.png", "width": 512, "height": 512},
        "disparity": {
            "unit": "pixels per unit baseline",
            "sign": "positive is nearer",
            "reference": "input_Cam040.png",
        },
        "parameters": {"alpha": 0.5, "method": "gcm"},
        "seconds": {"total": 3.25 + len(scene)},
    }
    for key, value in more.items():
        section, field = key.split("__")
        summary[section][field] = value
    folder.mkdir()
    write_pfm(folder / "disparity.pfm", values)
    (folder / "result.json").write_text(json.dumps(summary))
    return folder


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("results")
    return [result(root / scene, scene, VALUES + k) for k, scene in enumerate(SCENES)]


@pytest.fixture
def whole(results: list[Path], tmp_path: Path) -> Path:
    submission.write(tmp_path / "whole", results)
    return tmp_path / "whole"


def run(*arguments: object) -> int:
    return cli.main(["submission", *map(str, arguments)])


def test_twelve_scenes_as_the_benchmark_names_them() -> None:
    assert len(set(SCENES)) == 12
    assert {"backgammon", "pyramids", "sideboard", "origami"} <= set(SCENES)


def test_what_a_method_finds_may_differ_between_scenes(tmp_path: Path) -> None:
    ranges = {"boxes": [-1.5, 2.0], "dots": [-0.5, 1.0]}
    found = [result(tmp_path / name, name, VALUES, parameters__disparity_range=span) for name, span in ranges.items()]
    run(tmp_path / "submission", *found)
    assert set(validate(tmp_path / "submission").seconds) == set(ranges)


def test_a_whole_submission(results: list[Path], tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "submission"
    assert run(out, *results) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "training    boxes       8.25 s" in printed.out
    assert "is complete" in printed.out
    names = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert names == {f"disp_maps/{s}.pfm" for s in SCENES} | {f"runtimes/{s}.txt" for s in SCENES}
    assert np.array_equal(read_pfm(out / "disp_maps" / "dots.pfm"), VALUES + SCENES.index("dots"))
    assert (out / "runtimes" / "boxes.txt").read_text() == "8.25\n"
    head = (out / "disp_maps" / "boxes.pfm").read_bytes()[:20]
    assert head.startswith(b"Pf\n512 512\n-1.0\n")


def test_it_grows_and_reports_what_is_missing(results: list[Path], tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "submission"
    assert run(out, *results[:5]) == 1
    printed = capsys.readouterr().out
    assert "test        herbs       missing: disp_maps/herbs.pfm, runtimes/herbs.txt" in printed
    assert "is not complete; files missing: 14, errors: 0" in printed
    assert run(out, *results[5:]) == 0
    (out / "runtimes" / "dino.txt").unlink()
    assert run(out) == 1
    assert "missing: runtimes/dino.txt" in capsys.readouterr().out
    assert validate(out).missing == ["runtimes/dino.txt"]


def spoil_map(values: Any) -> Any:
    return lambda whole: write_pfm(whole / "disp_maps" / "boxes.pfm", values)


def spoil(name: str, content: bytes) -> Any:
    return lambda whole: (whole / name).write_bytes(content)


PATCHED = VALUES.copy()
PATCHED[3, 4], PATCHED[5, 6] = np.nan, np.inf


@pytest.mark.parametrize(
    ("do", "says"),
    [
        (spoil_map(VALUES[:, :500]), "disp_maps/boxes.pfm: is 500 x 512 pixels"),
        (spoil_map(PATCHED), "disp_maps/boxes.pfm: holds 2 values that are NaN or infinite"),
        (spoil("disp_maps/boxes.pfm", b"Pf\n512 512\n-2.0\n" + VALUES.tobytes()), "a scale of 1 or -1"),
        (spoil("disp_maps/boxes.pfm", b"Pf 512 512 -1.0\n" + VALUES.tobytes()), "each on a line of its own"),
        (spoil("disp_maps/boxes.pfm", b"Pf\n512 512\n-1.0\n" + VALUES.tobytes()[:-4]), "is truncated"),
        (spoil("disp_maps/boxes.pfm", b""), "is empty"),
        (spoil("disp_maps/Boxes.pfm", b"x"), "disp_maps/Boxes.pfm: does not belong"),
        (spoil("readme.txt", b"x"), "readme.txt: does not belong"),
        (spoil("runtimes/boxes.txt", b"fast\n"), "runtimes/boxes.txt: is not one positive number"),
        (spoil("runtimes/boxes.txt", b"0\n"), "is not one positive number"),
        (spoil("runtimes/boxes.txt", b"-3\n"), "is not one positive number"),
        (spoil("runtimes/boxes.txt", b"inf"), "is not one positive number"),
        (spoil("runtimes/boxes.txt", b"1.5\n2.5\n"), "is not one positive number"),
        (spoil("runtimes/boxes.txt", b"\xff"), "is not UTF-8"),
    ],
)
def test_what_is_wrong_is_named(whole: Path, do: Any, says: str, capsys: Capture) -> None:
    do(whole)
    assert run(whole) == 2
    printed = capsys.readouterr()
    assert says in printed.err
    assert printed.err.count("\n") == 1
    assert printed.err.startswith(str(whole))
    check = validate(whole)
    assert len(check.wrong) == 1
    assert not check.complete


def test_what_others_write_is_accepted(whole: Path) -> None:
    """Big-endian values and a runtime without an end of line, as the benchmark's own tools write them."""
    (whole / "disp_maps" / "boxes.pfm").write_bytes(b"Pf\n512 512\n1\n" + VALUES.astype(">f4").tobytes())
    (whole / "runtimes" / "boxes.txt").write_text("12.5000000000")
    assert validate(whole).seconds["boxes"] == 12.5
    assert validate(whole).complete


@pytest.mark.parametrize(
    ("scene", "values", "more", "says"),
    [
        ("kitchen", VALUES, {}, "shows 'kitchen', which is not a scene of the benchmark"),
        ("boxes", VALUES, {"disparity__unit": "mm"}, "its disparity is in 'mm'"),
        ("boxes", VALUES, {"disparity__sign": "positive is farther"}, "'positive is farther'"),
        ("boxes", VALUES, {"disparity__reference": "input_Cam000.png"}, "asks for the centre view"),
        ("boxes", PATCHED, {}, "holds 2 values that are NaN or infinite"),
        ("boxes", VALUES[:9, :9], {"source__width": 9, "source__height": 9}, "is 9 x 9 pixels"),
        ("boxes", VALUES, {"seconds__total": None}, "does not say how many seconds"),
        ("boxes", VALUES, {"seconds__total": 0}, "does not say how many seconds"),
        ("boxes", VALUES, {"parameters__alpha": 0.3}, "was estimated with alpha 0.3, but"),
        ("dots", VALUES, {}, "shows the scene dots, as"),
    ],
)
def test_a_result_that_cannot_be_handed_in(
    results: list[Path], tmp_path: Path, scene: str, values: Any, more: Any, says: str, capsys: Capture
) -> None:
    bad = result(tmp_path / "bad", scene, values, **more)
    dots = results[SCENES.index("dots")]
    assert run(tmp_path / "submission", dots, bad) == 2
    printed = capsys.readouterr().err
    assert re.match(rf"gradcon: {re.escape(str(bad))}\S*: ", printed)
    assert says in printed
    assert not (tmp_path / "submission").exists()


def test_paths_that_are_not_folders(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        validate(tmp_path / "none")
    with pytest.raises(InputError, match="is not a folder"):
        submission.write(tmp_path / "out", [tmp_path / "none"])
    (tmp_path / "disp_maps").write_text("x")
    assert "disp_maps: is not a folder" in validate(tmp_path).wrong[0]
    assert len(validate(tmp_path).missing) == 24


def test_maps_and_runtimes_are_written_together(results: list[Path], tmp_path: Path) -> None:
    (tmp_path / "runtimes" / f"{SCENES[1]}.txt").mkdir(parents=True)  # is in the file's place
    with pytest.raises(InputError, match="cannot be written"):
        submission.write(tmp_path, results[:2])
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_time_that_is_mostly_compilation_is_refused(tmp_path: Path) -> None:
    folder = result(tmp_path / "boxes", "boxes")
    summary = json.loads((folder / "result.json").read_text())
    for first, refused in ((58.0, True), (0.4, False)):
        summary["history"] = [{"seconds": seconds} for seconds in (first, 0.1, 0.2)]
        (folder / "result.json").write_text(json.dumps(summary))
        if refused:
            with pytest.raises(InputError, match="boxes: its first solve took 58 s, because the first run"):
                submission.write(tmp_path / "out", [folder])
        else:
            assert submission.write(tmp_path / "out", [folder]) == ["boxes"]
