"""The folder that results are written into: nothing of the user's own is replaced, and the check comes first."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gradcon import cli, estimate, open_scene, synth
from gradcon.errors import InputError
from gradcon.io.images import png
from gradcon.io.outputs import refuse_foreign_folder
from gradcon.methods.options import Options

QUICK = ("--method", "gcm", "--solves", "1", "--engine", "cpu", "--views", "3")


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    return synth.write("planes", tmp_path / "scene", (48, 48))


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def refusal(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert cli.main([str(part) for part in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


@pytest.mark.parametrize("record", [None, "{}", "[]", '{"format": "mine"}', "not JSON"])
def test_a_folder_of_the_users_own_is_refused_before_the_estimate(scene, tmp_path, capsys, monkeypatch, record):
    monkeypatch.setattr("gradcon.cli.estimates.estimate", lambda *_, **__: pytest.fail("it was estimated"))
    out = tmp_path / "thesis"
    out.mkdir()
    (out / "disparity.png").write_bytes(b"mine")
    if record is not None:  # a file of this name alone does not make it a result
        (out / "result.json").write_text(record)
    before = content(out)
    assert f"{out}: holds files that are not results of gradcon, such as disparity.png; choose a folder" in refusal(
        capsys, "estimate", scene, "--out", out, *QUICK
    )
    assert content(out) == before


def test_the_folder_of_the_scene_is_refused_even_if_it_holds_a_result(scene, tmp_path, capsys):
    assert cli.main(["estimate", str(scene), "--out", str(tmp_path / "out"), *QUICK]) == 0
    capsys.readouterr()
    for path in (tmp_path / "out").iterdir():  # as an earlier version allowed
        path.rename(scene / path.name)
    before = content(scene)
    (tmp_path / "link").symlink_to(scene)
    for out in (scene, scene / ".." / "scene", tmp_path / "link"):
        assert "is the folder of the scene itself; write the results into another folder" in refusal(
            capsys, "estimate", scene, "--out", out, *QUICK
        )
    assert content(scene) == before


def test_an_empty_folder_and_one_that_holds_a_result_are_used(scene, tmp_path, capsys):
    out = tmp_path / "out"
    out.mkdir()
    (out / ".DS_Store").touch()  # a file that its owner does not see
    assert cli.main(["estimate", str(scene), "--out", str(out), *QUICK]) == 0
    (out / "notes.txt").write_text("mine")
    summary = json.loads((out / "result.json").read_text())
    (out / "result.json").write_text(json.dumps({**summary, "format": "gradcon-result-1"}))  # of version 0.1
    assert cli.main(["estimate", str(scene), "--out", str(out), *QUICK]) == 0
    assert (out / "notes.txt").read_text() == "mine"
    result = estimate(open_scene(scene, views=2), Options("gcm", solves=1), engine="cpu", check_directions=False)
    result.save(out)
    with pytest.raises(InputError, match="not results of gradcon"):
        result.save(scene)


def test_a_video_and_the_demo_follow_the_same_rule(tmp_path, capsys):
    frames = np.random.default_rng(0).integers(0, 256, (2, 40, 48), dtype=np.uint8)
    for camera in ("v_0_0", "v_0_1"):
        (tmp_path / "in" / camera).mkdir(parents=True)
        for k, frame in enumerate(frames):
            (tmp_path / "in" / camera / f"{k}.png").write_bytes(png.encode(frame))
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    estimate_video = ["estimate", tmp_path / "in", "--method", "gcm", "--solves", "1", "--engine", "cpu", "--out"]
    assert "such as notes.txt" in refusal(capsys, *estimate_video, out)
    assert "is the folder of the scene itself" in refusal(capsys, *estimate_video, tmp_path / "in")
    assert "such as notes.txt" in refusal(capsys, "demo", "--out", out)
    (out / "notes.txt").unlink()
    assert cli.main([str(part) for part in [*estimate_video, out]]) == 0
    (out / "video.json").unlink()  # as if the run had been killed just before it was written
    assert cli.main([str(part) for part in [*estimate_video, out]]) == 0
    (out / "frame_0001" / "result.json").unlink()
    capsys.readouterr()
    assert f"{out / 'frame_0001'}: holds files that are not results" in refusal(capsys, *estimate_video, out)


def test_what_a_caller_writes_itself_does_not_count(tmp_path):
    (tmp_path / "jobs").mkdir()
    refuse_foreign_folder(tmp_path, own=["jobs"])
    with pytest.raises(InputError, match="such as jobs"):
        refuse_foreign_folder(tmp_path)
    refuse_foreign_folder(tmp_path / "missing")


@pytest.mark.parametrize("taken", ["result.json", "mine.txt", "input_Cam040.png/mine.txt"])
def test_maps_of_every_view_are_not_computed_in_vain(scene, tmp_path, capsys, monkeypatch, taken):
    monkeypatch.setattr("gradcon.estimate_views", lambda *_, **__: pytest.fail("they were estimated"))
    path = tmp_path / "out" / taken
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    assert "out" in refusal(capsys, "estimate", scene, "--out", tmp_path / "out", *QUICK, "--every-view")
    assert path.read_text() == "mine"
