"""What the command line refuses: a sentence that names what is wrong, no traceback, and nothing half-written."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradcon
from gradcon import cli, synth
from gradcon.cli import estimates
from gradcon.cli.app import refuse_unwritable
from gradcon.io.pfm import write_pfm


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synth.write("planes", tmp_path_factory.mktemp("scenes") / "planes", (64, 72), views=9)


@pytest.fixture
def copy(scene: Path, tmp_path: Path) -> Path:
    """Return a copy of the scene that a test may damage."""
    return Path(shutil.copytree(scene, tmp_path / "copy"))


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Return the one sentence with which the command refuses."""
    assert cli.main([str(argument) for argument in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("gradcon: ")
    assert captured.err.endswith((".\n", "?\n"))
    assert captured.err.count("\n") == 1
    return captured.err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--method", "magic"], "method: 'magic' is not one of sweep, gcm"),
        (["--method", "naive", "--without", "scale"], "without: naive has no term 'scale'"),
        (["--without", "haze"], "without: sweep has no term 'haze'"),
        (["--without", "scale"], "or use the method gcm"),
        (["--alpha", "0.4"], "alpha: the method sweep has no such parameter; leave it out, or use the method gcm"),
        (["--initial", "0.5"], "initial: is a number, but the method sweep searches all disparities"),
        (["--alpha", "0"], "alpha: 0.0"),
        (["--alpha", "nan"], "alpha: nan"),
        (["--alpha", "much"], "'--alpha'"),
        (["--epsilon", "-1e-3"], "epsilon: -0.001"),
        (["--scales", "0"], "scales: 0"),
        (["--solves", "-2"], "solves: -2"),
        (["--views", "few"], "views: 'few'"),
        (["--views", "1"], "views: 1"),
        (["--views", "100"], "views: 100"),
        (["--engine", "abacus"], "engine: 'abacus'"),
        (["--flip", "z"], "flip: 'z'"),
        (["--method", "gcm", "--initial", "nan"], "initial: nan"),
        (["--initial", "missing.pfm"], "missing.pfm: there is no such file"),
        (["--reference", "other.png"], "'other.png'"),
        (["--pattern", "x_{row}.png"], "{row}"),
        (["--size-factor", "3"], "size_factor"),
        (["--nonsense"], "--nonsense"),
    ],
)
def test_bad_options(
    options: list[str], told: str, scene: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told in refused(capsys, "estimate", scene, "--out", tmp_path / "a" / "b", *options)
    assert not any(tmp_path.iterdir())


def _truncate(folder: Path) -> str:
    path = folder / "input_Cam031.png"
    path.write_bytes(path.read_bytes()[:-200])
    return path.name


def _empty(folder: Path) -> str:
    (folder / "input_Cam041.png").write_bytes(b"")
    return "input_Cam041.png"


def _no_image(folder: Path) -> str:
    (folder / "input_Cam041.png").write_bytes(b"not an image at all")
    return "input_Cam041.png"


def _no_reference(folder: Path) -> str:
    (folder / "input_Cam040.png").unlink()
    return "input_Cam040.png"


def _one_view(folder: Path) -> str:
    for path in folder.glob("input_Cam*.png"):
        if path.name != "input_Cam040.png":
            path.unlink()
    return "only one view"


def _sizes(folder: Path) -> str:
    from PIL import Image

    Image.new("RGB", (72, 60)).save(folder / "input_Cam039.png")
    return "input_Cam039.png: is 72 x 60"


def _unknown_field(folder: Path) -> str:
    path = folder / "parameters.cfg"
    path.write_text(path.read_text().replace("num_cams_x", "num_cams_z"))
    return "num_cams_"


def _truth(folder: Path) -> str:
    path = folder / "gt_disp_lowres.pfm"
    path.write_bytes(path.read_bytes() + b"more")
    return "gt_disp_lowres.pfm"


def _same_baseline(folder: Path) -> str:
    rows = ["input_Cam040.png", "input_Cam039.png", "input_Cam041.png"]
    text = 'reference = "input_Cam040.png"\n'
    for name, x in zip(rows, (0, 1, 1), strict=True):
        text += f'[[views]]\nimage = "{name}"\nbaseline = [{x}, 0]\n'
    (folder / "rig.toml").write_text(text)
    return "baseline"


@pytest.mark.parametrize(
    "spoil",
    [
        _truncate, _empty, _no_image, _no_reference, _one_view, _sizes, _unknown_field, _truth, _same_baseline,
    ],
)  # fmt: skip
def test_bad_scenes(spoil: Any, copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = spoil(copy)
    assert told in refused(capsys, "estimate", copy, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_bad_output_folder(scene: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "taken" / "result.json").mkdir(parents=True)
    for out in ("file", "file/out", "taken"):
        assert str(tmp_path / out) in refused(capsys, "estimate", scene, "--out", tmp_path / out)
    assert str(tmp_path / "file") in refused(capsys, "synth", "planes", "--out", tmp_path / "file")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "result.json", "taken"]


def test_bad_evaluations(scene: Path, copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pfm(tmp_path / "small.pfm", np.zeros((3, 3)))
    (tmp_path / "huge.pfm").write_bytes(b"Pf\n999999999 999999999\n-1.0\n1234")
    (copy / "gt_disp_lowres.pfm").unlink()
    assert "3 x 3" in refused(capsys, "evaluate", tmp_path / "small.pfm", scene)
    assert "huge.pfm: is truncated" in refused(capsys, "evaluate", tmp_path / "huge.pfm", scene)
    assert "holds no result.json; give a folder" in refused(capsys, "evaluate", tmp_path, scene)
    assert "holds no ground truth" in refused(capsys, "evaluate", tmp_path / "small.pfm", copy)
    assert "nowhere: there is no such folder" in refused(
        capsys, "evaluate", tmp_path / "small.pfm", tmp_path / "nowhere"
    )


def test_bad_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert "planes, occlusion" in refused(capsys, "synth", "moon", "--out", out)
    assert "choose one of planes" in refused(capsys, "synth")
    assert "--out" in refused(capsys, "synth", "planes")
    for size in ("0", "4x", "-3", "4x5x6", "big", "99999"):
        assert "size: " in refused(capsys, "synth", "planes", "--out", out, "--size", size)
    assert "seed: -1" in refused(capsys, "synth", "planes", "--out", out, "--seed", -1)
    assert "'dream'" in refused(capsys, "dream")
    assert "'--out'" in refused(capsys, "estimate", tmp_path)
    assert not out.exists()


def test_a_refusal_as_a_shell_sees_it(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gradcon", "estimate", str(tmp_path / "nowhere"), "--out", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"gradcon: {tmp_path / 'nowhere'}: there is no such folder or file; check the path.\n"
    assert not any(tmp_path.iterdir())


def test_lack_of_memory_gives_a_sentence_and_a_bug_gives_a_traceback(
    scene: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(error: BaseException) -> Any:
        def function(*_: Any, **__: Any) -> None:
            raise error

        return function

    monkeypatch.setattr(estimates, "estimate", failing(MemoryError()))
    assert "memory" in refused(capsys, "estimate", scene, "--out", tmp_path / "out")
    monkeypatch.setattr(estimates, "estimate", failing(RuntimeError("a bug")))
    with pytest.raises(RuntimeError, match="a bug"):
        cli.main(["estimate", str(scene), "--out", str(tmp_path / "out")])
    assert not any(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_for_the_output_gives_a_sentence() -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "gradcon", "synth", "--list"]
        found = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert found.returncode == 2
    assert found.stderr == "gradcon: there is no room for the output; write it elsewhere.\n"


def test_checking_that_a_folder_is_writable_does_not_create_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise, of two commands that start at the same moment, one would remove the folder of the other."""

    def mkdir(*arguments: object, **more: object) -> None:
        raise AssertionError("made a folder")

    with monkeypatch.context() as watched:
        watched.setattr("os.mkdir", mkdir)
        refuse_unwritable(tmp_path / "results" / "a")
    assert not any(tmp_path.iterdir())
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("unmounted")
    for name in ("file", "file/a", "link", "link/a", "a" * 300, "/proc/none"):
        folder = tmp_path / name
        with pytest.raises(gradcon.InputError, match=f"^{folder}: cannot create this folder"):
            refuse_unwritable(folder)
