"""The command line, end to end: what is written where, exit codes, one sentence for every bad input."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradcon
from gradcon import cli, synth
from gradcon.cli import estimates
from gradcon.cli.app import refuse_unwritable
from gradcon.io.pfm import read_pfm, write_pfm
from waiting import PATIENCE

FILES = {"disparity.pfm", "disparity.png", "confidence.pfm", "depth.pfm", "depth.png", "result.json", "truth.pfm"}
FILES |= {"views.jpg"}
COMMAND = [sys.executable, "-m", "gradcon"]


def run(*arguments: object, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=PATIENCE, **more
    )


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synth.write("planes", tmp_path_factory.mktemp("scenes") / "planes", (64, 72), views=9)


@pytest.fixture(scope="module")
def estimated(scene: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A folder of results, and how the command that wrote it ended."""
    out = tmp_path_factory.mktemp("results") / "deep" / "out"
    return out, run("estimate", scene, "--out", out, "--solves", 30, "--views", "cross", "--json")


@pytest.fixture
def copy(scene: Path, tmp_path: Path) -> Path:
    """A scene of one's own, to spoil."""
    return Path(shutil.copytree(scene, tmp_path / "copy"))


# ------------------------------------------------------------------------------------------ what it does


def test_estimate_writes_its_files_and_json_alone(estimated: Any) -> None:
    out, done = estimated
    assert done.returncode == 0, done.stderr
    assert {path.name for path in out.iterdir()} == FILES
    assert "solve 1 of at most 30" in done.stderr
    printed = json.loads(done.stdout, parse_constant=pytest.fail)  # strict: no NaN, nothing before or after
    assert printed == json.loads((out / "result.json").read_text())
    assert printed["source"]["views"] == 5
    assert printed["parameters"]["solves"] == 30
    assert len(printed["history"]) <= 30
    assert read_pfm(out / "disparity.pfm").shape == (64, 72)


def test_evaluate_agrees_with_the_api(estimated: Any, scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, done = estimated
    truth = gradcon.open_scene(scene).ground_truth
    expected = gradcon.evaluate(read_pfm(out / "disparity.pfm"), truth)
    for disparity in (out, out / "disparity.pfm"):
        assert cli.main(["evaluate", str(disparity), str(scene), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["metrics"] == pytest.approx(expected)
    assert json.loads(done.stdout)["metrics"] == pytest.approx(expected)
    assert cli.main(["evaluate", str(out), str(scene)]) == 0
    table = capsys.readouterr().out
    assert f"{expected['rmse']:.4f}  pixels per unit baseline" in table
    assert len(table.splitlines()) == len(expected)


def test_evaluate_counts_a_non_finite_estimate_as_bad(
    scene: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    truth = gradcon.open_scene(scene).ground_truth
    assert truth is not None
    truth = truth.copy()
    truth[30, 30] = np.inf
    write_pfm(tmp_path / "w.pfm", truth)
    assert cli.main(["evaluate", str(tmp_path / "w.pfm"), str(scene), "--json"]) == 0
    metrics = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)["metrics"]
    assert metrics["rmse"] is None  # infinite, which JSON cannot say
    assert metrics["badpix_007"] > 0


def test_synth_estimate_evaluate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made, out = tmp_path / "made", tmp_path / "out"
    assert cli.main(["synth", "rotated", "--out", str(made), "--size", "48x40", "--views", "5", "--seed", "3"]) == 0
    assert (made / "rig.toml").exists()
    assert "5 views" in capsys.readouterr().out
    assert cli.main(["estimate", str(made), "--out", str(out), "--solves", "5", "--engine", "cpu"]) == 0
    printed = capsys.readouterr().out
    for told in ("rotated: 5 views of 48 x 40", "pixels per unit", "RMSE", "cpu, 5 solves", "used up", str(out)):
        assert told in printed
    assert cli.main(["evaluate", str(out), str(made)]) == 0


def test_estimate_continues_from_a_map_and_from_a_number(estimated: Any, scene: Path, tmp_path: Path) -> None:
    common = ["estimate", str(scene), "--views", "cross", "--solves", "1", "--out", str(tmp_path)]
    for initial, tolerance in ((str(estimated[0] / "disparity.pfm"), 0.05), ("-0.25", 2.0)):
        assert cli.main([*common, "--initial", initial]) == 0
        change = read_pfm(tmp_path / "disparity.pfm") - read_pfm(estimated[0] / "disparity.pfm")
        assert np.abs(change).mean() < tolerance
    assert json.loads((tmp_path / "result.json").read_text())["parameters"]["initial"] == -0.25


def test_warnings_are_shown_once_and_not_on_stdout(
    scene: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("gradcon.directions.check_directions", lambda *_: ["the cameras look turned around."])
    assert cli.main(["estimate", str(scene), "--out", str(tmp_path), "--solves", "1", "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err.count("WARNING: the cameras look turned around.") == 1
    assert captured.err.count("turned around") == 1
    assert json.loads(captured.out)["warnings"] == ["the cameras look turned around."]


def test_the_same_bytes_for_any_number_of_threads(scene: Path, tmp_path: Path) -> None:
    written = []
    for threads in ("1", "2"):
        out = tmp_path / threads
        done = run("estimate", scene, "--out", out, "--solves", 8, env={**os.environ, "NUMBA_NUM_THREADS": threads})
        assert done.returncode == 0, done.stderr
        written.append((out / "disparity.pfm").read_bytes() + (out / "confidence.pfm").read_bytes())
    assert written[0] == written[1]


def test_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("gradcon.demo.SIZE", (48, 48))
    assert cli.main(["demo", "--out", str(tmp_path / "demo")]) == 0
    assert {path.name for path in (tmp_path / "demo").iterdir()} == FILES | {"occlusion", "report.html", "weights.npz"}
    assert (tmp_path / "demo" / "report.html").as_uri() in capsys.readouterr().out


def seconds_of(command: list[str]) -> float:
    """On the clock, or of the processor where that is less: then it had to wait for one."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after, elapsed = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    return min(elapsed, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


@pytest.mark.parametrize("arguments", [["--help"], ["-c", "import gradcon"]])
def test_starts_within_half_a_second(arguments: list[str]) -> None:
    command = [sys.executable, *arguments] if arguments[0] == "-c" else [*COMMAND, *arguments]
    assert any(seconds_of(command) < 0.5 for _ in range(20))  # other programs may be busy, and only slow it


def test_help_imports_nothing_heavy() -> None:
    code = "import sys; from gradcon.cli import main; main(['--help']); print(sorted(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "estimate" in done.stdout
    for heavy in ("numba", "scipy", "matplotlib", "rich", "PIL"):
        assert f"'{heavy}'" not in done.stderr


def test_version_and_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"gradcon {gradcon.__version__}\n"
    assert cli.main([]) == 0
    assert "Usage: gradcon" in capsys.readouterr().out


def test_synth_lists_its_scenes(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["synth", "--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(synth.SCENES)


# ---------------------------------------------------------------------------------------------- bad input


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The one sentence that the command refuses with."""
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
        (["--method", "magic"], "method: 'magic' is not one of gcm"),
        (["--method", "naive", "--without", "scale"], "without: naive has no scale term"),
        (["--without", "noise"], "without: 'noise'"),
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
        (["--initial", "nan"], "initial: nan"),
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
    done = run("estimate", tmp_path / "nowhere", "--out", tmp_path / "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"gradcon: {tmp_path / 'nowhere'}: there is no such folder or file; check the path.\n"
    assert not any(tmp_path.iterdir())


# -------------------------------------------------------------------------------------------- interruptions


def test_ctrl_c_leaves_nothing_and_exits_with_130(scene: Path, tmp_path: Path) -> None:
    # A shell that started the tests in the background has them ignore SIGINT; the command must not inherit that.
    code = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += "from gradcon.cli import main; sys.exit(main())"
    arguments = ["estimate", str(scene), "--out", str(tmp_path / "out"), "--engine", "reference"]
    command = [sys.executable, "-c", code, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "solve 1 of" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    assert not any(tmp_path.iterdir())


def test_a_reader_that_has_gone(estimated: Any, scene: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*COMMAND, "evaluate", estimated[0], scene], stdout=write, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


def test_memory_that_runs_out_is_a_sentence_and_a_bug_is_a_traceback(
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
def test_a_full_disk_for_the_output_is_a_sentence() -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "gradcon", "synth", "--list"]
        found = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert found.returncode == 2
    assert found.stderr == "gradcon: there is no room for the output; give it another place.\n"


def test_asking_whether_a_folder_can_be_written_makes_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or one of two commands that begin at the same moment would remove the other's."""

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
