"""A batch that is run again: finished scenes are found, changed ones are computed again, failures are remembered."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from batch_scenes import batch, everything, job_files, results, rows, write_scenes
from gradcon import Options, synth
from gradcon.batch.scenes import SceneFolder, find_scenes
from gradcon.batch.work import scene_jobs, work_parameters
from gradcon.cli import main
from gradcon.io.formats.format import Hints
from gradcon.jobs.job import sha256_of

pytestmark = pytest.mark.slow


def test_only_new_or_changed_scenes_are_computed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths, out = write_scenes(tmp_path / "in", 3), tmp_path / "out"
    assert batch(*paths[:2], "--out", out) == 0
    first, content = job_files(out), results(out)
    capsys.readouterr()
    assert batch(*paths[:2], "--out", out, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["computed"], told["reused"], told["failed"]) == (0, 2, 0)
    assert job_files(out) == first
    # One new scene, and one that has changed: without its parameters there is no depth.
    (paths[0] / "parameters.cfg").unlink()
    assert batch(paths[0], paths[2], "--out", out, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["computed"], told["reused"]) == (2, 0)
    assert [row["folder"] for row in told["scenes"]] == ["scene00", "scene02"]
    assert list(rows(out)) == ["scene00", "scene01", "scene02"]  # all scenes in the folder
    assert len(job_files(out)) == 3
    assert not (out / "scene00" / "depth.pfm").exists()
    assert {n: c for n, c in results(out).items() if n.startswith("scene01")} == {
        n: c for n, c in content.items() if n.startswith("scene01")
    }
    # A damaged result is computed again, with a message.
    damaged = out / "scene01" / "disparity.pfm"
    damaged.write_bytes(damaged.read_bytes()[:-4])
    assert batch(paths[1], "--out", out) == 0
    assert f"computed again: {damaged}" in capsys.readouterr().err
    assert results(out)["scene01/disparity.pfm"] == content["scene01/disparity.pfm"]


def test_only_files_of_the_scene_are_removed(tmp_path: Path) -> None:
    """The file of an earlier job may claim anything."""
    (scene,), out = write_scenes(tmp_path / "in", 1), tmp_path / "out"
    assert batch(scene, "--out", out) == 0
    (path,) = (out / "jobs").glob("*.json")
    kept = json.loads(path.read_text())
    del kept["sha256"]
    mine = ["../thesis.tex", "scene00/../../thesis.tex", "notes.txt", "scene00/a.txt"]
    kept["files"] |= dict.fromkeys([*mine, "scene00/confidence.pfm"], "")
    (out / "jobs" / "earlier.json").write_text(json.dumps(kept | {"sha256": sha256_of(kept)}))
    (out / "scene00" / "confidence.pfm").write_text("of an earlier input")
    for name in mine:
        (out / name).write_text("mine")
    assert batch(scene, "--out", out) == 0
    assert not (out / "jobs" / "earlier.json").exists()
    assert not (out / "scene00" / "confidence.pfm").exists()
    assert (out / "scene00" / "disparity.pfm").exists()
    assert all((out / name).read_text() == "mine" for name in mine)


def test_an_edited_job_file_is_ignored(tmp_path: Path) -> None:
    paths, out = write_scenes(tmp_path / "in", 2), tmp_path / "out"
    assert batch(*paths, "--out", out) == 0
    for path in (out / "jobs").glob("*.json"):
        if '"folder": "scene01"' in path.read_text():
            path.write_text(path.read_text().replace('"engine": "reference"', '"engine": 7'))
    assert batch(paths[0], "--out", out) == 0
    assert list(rows(out)) == ["scene00"]


def test_moved_scenes_are_recognised_and_namesakes_do_not_take_their_place(tmp_path: Path) -> None:
    for place, seed in (("a", 0), ("b", 1)):
        synth.write("planes", tmp_path / place / "scene", (24, 24), views=3, seed=seed)
    out = tmp_path / "out"
    assert batch(tmp_path / "a", "--out", out) == 0
    before = everything(out / "scene")
    (tmp_path / "a").rename(tmp_path / "moved")
    assert batch(tmp_path / "b", "--out", out) == 0  # the first is absent: perhaps it is unmounted
    assert everything(out / "scene") == before
    assert set(rows(out)) == {"scene", "b-scene"}
    jobs = job_files(out)
    assert batch(tmp_path / "moved", "--out", out) == 0
    assert job_files(out) == jobs  # nothing was computed again
    assert rows(out)["scene"]["source"] == str(tmp_path / "moved" / "scene")


def test_one_of_two_copies_counts_as_the_moved_scene(tmp_path: Path) -> None:
    (scene,), out = write_scenes(tmp_path / "a", 1, size=24), tmp_path / "out"
    assert batch(scene, "--out", out) == 0
    for copy in "bc":
        shutil.copytree(tmp_path / "a", tmp_path / copy)
    shutil.rmtree(tmp_path / "a")
    assert batch(tmp_path / "b", tmp_path / "c", "--out", out) == 0
    assert {row["source"] for row in rows(out).values()} == {str(tmp_path / copy / "scene00") for copy in "bc"}


def test_the_result_of_a_scene_that_changes_during_the_run_is_not_kept(tmp_path: Path) -> None:
    (scene,) = write_scenes(tmp_path, 1, size=24)
    parameters = work_parameters(
        Options("gcm", solves=1),
        Hints(),
        views="all",
        engine="reference",
        points=False,
        keep_weights=False,
        flip=None,
        initial=None,
    )
    (job,) = scene_jobs([SceneFolder(scene, "scene")], parameters, tmp_path / "out")
    assert job.changed is not None
    assert job.changed() is None
    view = scene / "input_Cam040.png"
    content, written = view.read_bytes(), view.stat().st_mtime_ns
    view.write_bytes(content[:-1] + b"?")  # of the same length
    os.utime(view, ns=(written + 1, written + 1))
    assert job.changed() == f"{scene}: was changed while the batch was running; run the batch again."
    view.write_bytes(content)
    os.utime(view, ns=(written, written))
    assert job.changed() is None
    (scene / "more.png").touch()
    assert job.changed() is not None
    view.unlink()
    assert job.changed() is not None


def test_a_failure_is_listed_until_the_scene_is_done(tmp_path: Path) -> None:
    """A run that does not try the scene lists it too, even if there is an earlier result."""
    (first, second), out = write_scenes(tmp_path / "in", 2, size=24), tmp_path / "out"
    assert batch(first, "--out", out) == 0
    view = first / "input_Cam040.png"
    content = view.read_bytes()
    view.write_bytes(content[:100])
    assert batch(first, "--out", out) == 2
    assert batch(second, "--out", out) == 0
    found = rows(out)
    assert (found["scene00"]["status"], found["scene01"]["status"]) == ("failed", "done")
    assert "input_Cam040.png: is truncated" in found["scene00"]["error"]
    view.write_bytes(content)
    assert batch(tmp_path / "in", "--out", out) == 0
    assert {row["status"] for row in rows(out).values()} == {"done"}


def test_an_unreadable_scene_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scenes, out = write_scenes(tmp_path / "in", 2, size=24), tmp_path / "out"
    (tmp_path / "in" / "loop").symlink_to("loop")
    (tmp_path / "in" / "nowhere").symlink_to("gone")

    def refuse(path: Path, hints: Hints) -> bool:
        if path.name == "scene01":
            raise PermissionError(13, "Permission denied", str(path / "rig.toml"))
        return True

    monkeypatch.setattr("gradcon.batch.scenes.is_scene", refuse)
    assert find_scenes(scenes, Hints(), out) == scenes
    monkeypatch.setattr("gradcon.batch.scenes.is_scene", lambda path, hints: path.name != "in" and refuse(path, hints))
    assert find_scenes([tmp_path / "in"], Hints(), out) == scenes


def test_a_wrong_pattern_is_reported_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_scenes(tmp_path / "in", 1, size=24)
    assert batch(tmp_path / "in", "--out", tmp_path / "out", "--pattern", "v_{r}.png") == 2
    assert "pattern" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_unrecognised_folders_among_scenes_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (scene,), out = write_scenes(tmp_path / "in", 1, size=24), tmp_path / "out"
    for name in ("left.png", "middle.png", "right.png"):
        (tmp_path / "in" / "trio").mkdir(exist_ok=True)
        shutil.copy(scene / "input_Cam040.png", tmp_path / "in" / "trio" / name)
    (tmp_path / "in" / "notes").mkdir()
    (tmp_path / "in" / "notes" / "figure.png").touch()
    assert batch(tmp_path / "in", "--out", tmp_path / "in" / "out") == 0
    said = capsys.readouterr().err
    assert f"passed over: {tmp_path}/in/trio: is not recognised as a scene; gradcon info says why." in said
    assert said.count("passed over") == 1
    assert main(["convert", str(tmp_path / "in" / "out" / "scene00"), str(tmp_path / "in" / "map.npz")]) == 0
    assert batch(tmp_path / "in", "--out", out) == 0  # neither the results nor a map of them are scenes
    assert set(rows(out)) == {"scene00"}
    archive = tmp_path / "in" / "map.npz"
    archive.write_bytes(archive.read_bytes()[:-30])  # so that it cannot be opened
    assert batch(tmp_path / "in", "--out", out) == 1
    assert rows(out)["map"]["status"] == "failed"


def test_a_name_of_two_lines_is_printed_in_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "two\nlines").mkdir()
    assert batch(tmp_path / "two\nlines", "--out", tmp_path / "out") == 2
    assert "two\\nlines: is an empty folder" in capsys.readouterr().err
