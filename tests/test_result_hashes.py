"""A result's files are those that its result.json describes; anything else is refused, or left out of the page."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from gradcon import Options, cli, estimate, read_map, synth
from gradcon.errors import InputError
from gradcon.files import write_file, write_files, writing
from gradcon.io.outputs import refuse_foreign_folder
from gradcon.io.pfm import read_pfm, write_pfm
from gradcon.report import write_report
from gradcon.report.folder import read_folder


@pytest.fixture
def result(folders: list[Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(folders[0], tmp_path / "result"))


def test_a_result_states_the_hashes_of_its_files(result: Path) -> None:
    stated = json.loads((result / "result.json").read_text())["files"]
    there = {path.name: path for path in result.iterdir() if path.name != "result.json"}
    assert stated == {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in there.items()}


def test_a_map_of_another_run_is_refused(result: Path, folders: list[Path], tmp_path: Path) -> None:
    shutil.copyfile(folders[1] / "disparity.pfm", result / "disparity.pfm")  # of the same scene and size
    sentence = "disparity.pfm: is not the file that result.json describes, so a run was interrupted or .* changed; "
    for read in (read_map, read_folder):
        with pytest.raises(InputError, match=f"{sentence}estimate the scene again, or use a file of your own"):
            read(result / "disparity.pfm" if read is read_map else result)
    with pytest.raises(InputError, match=sentence):
        read_map(result, "disparity")
    moved = shutil.copyfile(result / "disparity.pfm", tmp_path / "own.pfm")  # what the sentence advises
    np.testing.assert_array_equal(read_map(moved).values, read_pfm(folders[1] / "disparity.pfm"))


@pytest.mark.parametrize("name", ["truth.pfm", "views.jpg", "weights.npz", "uncertainty.pfm"])
def test_a_part_of_another_run_is_left_out(result: Path, tmp_path: Path, name: str) -> None:
    if name.endswith(".pfm"):
        write_pfm(result / name, read_pfm(result / name) + 1)
    else:
        summary = json.loads((result / "result.json").read_text())
        summary["files"][name] = "0" * 64
        (result / "result.json").write_text(json.dumps(summary))
    (left_out,) = write_report([result], tmp_path / "page.html").left_out
    assert left_out.startswith(f"{result / name}: is not the file that result.json describes")
    assert left_out.endswith("The page leaves it out.")


def test_a_part_that_the_result_does_not_have_is_left_out(result: Path, folders: list[Path], tmp_path: Path) -> None:
    shutil.copytree(folders[1], tmp_path / "other")
    shutil.copyfile(result / "weights.npz", tmp_path / "other" / "weights.npz")
    (left_out,) = write_report([tmp_path / "other"], tmp_path / "page.html").left_out
    assert "weights.npz: " in left_out


def test_pictures_that_are_added_later_are_no_strangers(tmp_path: Path) -> None:
    scene = synth.write("planes", tmp_path / "scene", (40, 40), views=5)
    quick = ["--engine", "reference", "--method", "gcm", "--solves", "1"]
    assert cli.main(["estimate", str(scene), "--out", str(tmp_path / "out"), *quick]) == 0
    assert cli.main(["evaluate", str(tmp_path / "out"), str(scene), "--uncertainty"]) == 0
    assert (tmp_path / "out" / "uncertainty.png").exists()
    assert write_report([tmp_path / "out"], tmp_path / "page.html").left_out == []


def leftover(folder: Path, name: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f".{name}.0123456789ab.tmp"
    path.write_text("half")
    return path


def test_leftovers_of_a_killed_run_are_removed_by_the_next(tmp_path: Path) -> None:
    ours, other = leftover(tmp_path, "page.html"), leftover(tmp_path, "other.html")
    write_file(tmp_path / "page.html", b"whole")
    assert not ours.exists()
    assert other.exists()  # this run does not write other.html
    folder = tmp_path / ".field.zarr.0123456789ab.tmp"
    folder.mkdir()
    leftover(folder, "chunk")
    with writing(tmp_path / "field.zarr") as temporary:
        temporary.mkdir()
    assert {path.name for path in tmp_path.iterdir()} == {"page.html", other.name, "field.zarr"}


def test_the_temporary_files_of_a_run_that_is_writing_are_no_leftovers(tmp_path: Path) -> None:
    def files() -> object:
        yield "a.txt", b"first"
        write_files(tmp_path, [("a.txt", b"another run")])
        assert len(list(tmp_path.glob(".a.txt.*.tmp"))) == 1
        yield "b.txt", b"second"

    write_files(tmp_path, files())  # type: ignore[arg-type]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a.txt": b"first", "b.txt": b"second"}


def test_a_folder_that_a_killed_run_began_is_its_own(tmp_path: Path) -> None:
    scene = synth.render("planes", size=(24, 24), views=5)
    result = estimate(scene, Options("gcm", solves=1), engine="reference", check_directions=False)
    out = result.save(tmp_path / "out")
    (out / "result.json").rename(out / ".result.json.0123456789ab.tmp")  # the last file was not renamed
    (out / "weights.npz").write_bytes(b"of a run with weights")
    result.save(out)
    assert {path.name for path in out.iterdir()} == {
        *json.loads((out / "result.json").read_text())["files"],
        "result.json",
    }
    (out / "result.json").unlink()
    with pytest.raises(InputError, match="not results of gradcon"):
        refuse_foreign_folder(out)
