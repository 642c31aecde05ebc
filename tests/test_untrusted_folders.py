"""Folders and answers of others: nothing is written outside the output, waited for, or taken for a result."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from batch_scenes import batch, everything, write_scenes
from gradcon import Options, estimate_views, synth
from gradcon.batch.checks import check_outcome as check_scene
from gradcon.cli import main
from gradcon.errors import InputError
from gradcon.jobs import Job, Outcome
from gradcon.jobs.checks import check_outcome
from gradcon.jobs.job import sha256_of

LONG = "n" * 300  # characters, of which file systems allow 255


def test_a_pipe_among_the_images_is_not_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = write_scenes(tmp_path / "in", 2, size=16)
    os.mkfifo(bad / "input_Cam005.png")
    assert batch(tmp_path / "in", "--out", tmp_path / "out") == 1
    assert "input_Cam005.png: is not a regular file; copy its content into one." in capsys.readouterr().err
    assert (tmp_path / "out" / good.name / "result.json").is_file()


@pytest.mark.parametrize("folder", ["../escaped", "a/../../escaped", "/tmp/escaped", "..", ""])
def test_a_list_that_leads_out_of_the_folder(tmp_path: Path, folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    (scene,) = write_scenes(tmp_path / "in", 1, size=16)
    out = tmp_path / "out"
    assert batch(scene.parent, "--out", out) == 0
    told = json.loads((out / "batch.json").read_text())
    (out / "batch.json").write_text(json.dumps({**told, "scenes": {folder: str(scene)}}))
    before = everything(tmp_path)
    assert batch(scene.parent, "--out", out) == 2
    assert f"batch.json: names {folder!r}, which is not the name of a file in" in capsys.readouterr().err
    assert everything(tmp_path) == before


@pytest.mark.parametrize("own", [True, False])
def test_a_list_that_calls_other_folders_its_own(tmp_path: Path, own: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither the scene's own folder, nor one that holds something else, gets a result."""
    out = tmp_path / "out"
    (scene,) = write_scenes(out, 1, size=16)
    assert batch(scene, "--out", tmp_path / "other") == 0
    told = json.loads((tmp_path / "other" / "batch.json").read_text())
    (out / "mine").mkdir()
    (out / "mine" / "disparity.png").write_text("mine")
    (out / "mine" / "thesis.txt").write_text("mine")
    folder = scene.name if own else "mine"
    (out / "batch.json").write_text(json.dumps({**told, "scenes": {folder: str(scene)}}))
    before = everything(tmp_path)
    assert batch(scene, "--out", out) == 2
    says = "is the folder of the scene itself" if own else "exists and does not belong to this batch"
    assert f"{out / folder}: {says}" in capsys.readouterr().err
    assert everything(tmp_path) == before


def test_a_link_that_leads_out_of_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (scene,) = write_scenes(tmp_path / "in", 1, size=16)
    out = tmp_path / "out"
    assert batch(scene.parent, "--out", out) == 0
    (out / scene.name).rename(tmp_path / "elsewhere")
    (out / scene.name).symlink_to(tmp_path / "elsewhere")
    before = everything(tmp_path / "elsewhere")
    assert batch(scene.parent, "--out", out) == 2
    assert "which leads out of" in capsys.readouterr().err
    assert everything(tmp_path / "elsewhere") == before


RECORD = {
    "name": "one", "folder": "one", "width": 8, "height": 8, "views": 3, "solves": 1, "stopped": "done", "seconds": 1.0,
    "engine": "cpu", "rmse": None, "badpix": None, "warnings": [],
}  # fmt: skip


def answer(files: dict[str, bytes] | None = None, **changes: Any) -> Outcome:
    """What a worker answers for the scene in the folder `one`; the result.json describes the files."""
    files = {"disparity.pfm": b"map"} if files is None else files
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    files = {"result.json": json.dumps({"files": hashes}).encode(), **files}
    return Outcome({**RECORD, **changes}, files={f"one/{name}": content for name, content in files.items()})


def job() -> Job:
    return Job(lambda: Outcome({}), {}, "", "one", check=partial(check_scene, folder="one"))


def swapped(outcome: Outcome, name: str, content: Any) -> Outcome:
    return dataclasses.replace(outcome, files={**outcome.files, name: content})


def test_a_workers_answer_that_is_a_result() -> None:
    check_outcome(job(), answer())


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: {"record": {}}, "is of the type dict"),
        (lambda: answer(width="8"), "lacks a field"),
        (lambda: answer(folder="two"), "that of another scene"),
        (lambda: answer(warnings=[1]), "warnings that are no texts"),
        (lambda: answer(rmse=object), "lacks a field"),
        (lambda: dataclasses.replace(answer(), files={}), "are not those that its result.json describes"),
        (lambda: answer({"run.sh": b"rm"}), "which is not one of its result"),
        (lambda: swapped(answer(), "two/disparity.pfm", b"map"), "which is not one of its result"),
        (lambda: swapped(answer(), "one/disparity.pfm", b"other"), "are not those that its result.json describes"),
        (lambda: swapped(answer(), "one/result.json", b"[" * 5000), "are not those that its result.json describes"),
        (lambda: swapped(answer(), "../escaped", b""), "would leave the folder"),
        (lambda: swapped(answer(), "one/truth.pfm", "text"), "that is not bytes"),
        (lambda: dataclasses.replace(answer(), seconds=float("nan")), "how many seconds"),
        (lambda: dataclasses.replace(answer(), arrays={"a": np.array([object()])}), "arrays that are not numbers"),
        (lambda: dataclasses.replace(answer(), versions=None), "what computed it"),
        (lambda: dataclasses.replace(answer(), files={str(k): b"" for k in range(2000)}), "too many"),
    ],
)
def test_a_workers_answer_that_is_none(wrong: Callable[[], Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        check_outcome(job(), wrong())


def test_a_finished_job_without_its_files_is_done_again(tmp_path: Path) -> None:
    (scene,) = write_scenes(tmp_path / "in", 1, size=16)
    out = tmp_path / "out"
    assert batch(scene.parent, "--out", out) == 0
    (path,) = (out / "jobs").glob("*.json")
    told = {**json.loads(path.read_text()), "files": {}}
    del told["sha256"]
    path.write_text(json.dumps({**told, "sha256": sha256_of(told)}))
    shutil.rmtree(out / scene.name)
    assert batch(scene.parent, "--out", out) == 0
    assert (out / scene.name / "disparity.pfm").is_file()


@pytest.mark.parametrize(
    "command",
    [
        ["report", LONG, "--out", "page.html"],
        ["report", "result", "--out", f"{LONG}.html"],
        ["evaluate", LONG, "scene"],
        ["evaluate", "result", LONG],
        ["convert", LONG, "a.pfm"],
        ["convert", "result", f"{LONG}.pfm", "--quantity", "disparity", "--force"],
        ["estimate", "scene", "--out", "out", "--initial", LONG],
        ["estimate", "scene", "--out", LONG],
        ["estimate", LONG, "--out", "out"],
        ["submission", "folder", LONG],
        ["reproduce", "--hci", LONG, "--out", "out"],
        ["info", LONG],
        ["batch", LONG, "--out", "out"],
    ],
    ids=" ".join,
)
def test_names_that_are_too_long(
    folders: list[Path],
    tmp_path: Path,
    command: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "result").symlink_to(folders[0])
    write_scenes(tmp_path, 1, size=16)[0].rename("scene")
    assert main(command) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("gradcon: ")
    assert LONG in line


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("M", 1, 0), 10**400),
        (("M", 1, 1), 0),
        (("M", 1, 0), 1e300),
        (("M",), [1]),
        (("m", 0), 1e30),
        (("m",), {}),
        (("camera", "t", 0), 1e30),
        (("camera", "K"), "K"),
        (("camera",), 5),
    ],
)
def test_a_list_of_views_that_stand_nowhere(
    several: Path, tmp_path: Path, where: tuple[Any, ...], value: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(several, tmp_path / "maps")
    path = tmp_path / "maps" / "views.json"
    told = json.loads(path.read_text())
    part = told["views"][1]
    for key in where[:-1]:
        part = part[key]
    part[where[-1]] = value
    path.write_text(json.dumps(told))
    assert main(["fuse", str(tmp_path / "maps"), "--out", str(tmp_path / "cloud.ply")]) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith(f"gradcon: {path}")
    assert not (tmp_path / "cloud.ply").exists()


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the maps of three views."""
    root = tmp_path_factory.mktemp("views")
    scene = synth.render("planes", (16, 16), views=3)
    return estimate_views(scene, Options("gcm", solves=1), engine="reference").save(root / "maps")
