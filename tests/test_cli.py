"""The command line, end to end: what is written where, exit codes, one sentence for every bad input."""

from __future__ import annotations

import json
import os
import resource
import shlex
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
from gradcon.io.pfm import read_pfm, write_pfm
from gradcon.methods.look.hidden import Behind
from waiting import PATIENCE

FILES = {"disparity.pfm", "disparity.png", "uncertainty.pfm", "depth.pfm", "depth.png", "result.json", "truth.pfm"}
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
    return out, run("estimate", scene, "--out", out, "--method", "gcm", "--solves", 30, "--views", "cross", "--json")


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
    assert (
        cli.main(["estimate", str(made), "--out", str(out), "--method", "gcm", "--solves", "5", "--engine", "cpu"]) == 0
    )
    printed = capsys.readouterr().out
    for told in ("rotated: 5 views of 48 x 40", "pixels per unit", "RMSE", "cpu, 5 solves", "used up", str(out)):
        assert told in printed
    assert cli.main(["evaluate", str(out), str(made)]) == 0


def test_estimate_continues_from_a_map_and_from_a_number(estimated: Any, scene: Path, tmp_path: Path) -> None:
    common = ["estimate", str(scene), "--views", "cross", "--method", "gcm", "--solves", "1", "--out", str(tmp_path)]
    for initial, tolerance in ((str(estimated[0] / "disparity.pfm"), 0.05), ("-0.25", 2.0)):
        assert cli.main([*common, "--initial", initial]) == 0
        change = read_pfm(tmp_path / "disparity.pfm") - read_pfm(estimated[0] / "disparity.pfm")
        assert np.abs(change).mean() < tolerance
    assert json.loads((tmp_path / "result.json").read_text())["parameters"]["initial"] == -0.25


def test_warnings_are_shown_once_and_not_on_stdout(
    scene: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("gradcon.methods.look.hidden.behind_surfaces", lambda *_: Behind(nearer=1.0, farther=2.0))
    assert cli.main(["estimate", str(scene), "--out", str(tmp_path), "--method", "gcm", "--solves", "1", "--json"]) == 0
    captured = capsys.readouterr()
    (warning,) = json.loads(captured.out)["warnings"]
    assert "the cameras seem to be reversed" in warning
    assert captured.err.count(f"WARNING: {warning}") == captured.err.count("reversed") == 1


@pytest.mark.slow
def test_the_same_bytes_for_any_number_of_threads(scene: Path, tmp_path: Path) -> None:
    written = []
    for threads in ("1", "2"):
        out = tmp_path / threads
        done = run(
            "estimate",
            scene,
            "--out",
            out,
            "--method",
            "gcm",
            "--solves",
            8,
            env={**os.environ, "NUMBA_NUM_THREADS": threads},
        )
        assert done.returncode == 0, done.stderr
        written.append((out / "disparity.pfm").read_bytes() + (out / "uncertainty.pfm").read_bytes())
    assert written[0] == written[1]


def test_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("gradcon.cli.demo.SIZE", (48, 48))
    assert cli.main(["demo", "--out", str(tmp_path / "demo")]) == 0
    assert {path.name for path in (tmp_path / "demo").iterdir()} == FILES | {"occlusion", "report.html", "weights.npz"}
    assert (tmp_path / "demo" / "report.html").as_uri() in capsys.readouterr().out


def seconds_of(command: list[str]) -> float:
    """Return the wall time, or the processor time if that is less because the process had to wait."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after, elapsed = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    return min(elapsed, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


@pytest.mark.parametrize("arguments", [["--help"], ["-c", "import gradcon"]])
def test_starts_within_half_a_second(arguments: list[str]) -> None:
    command = [sys.executable, *arguments] if arguments[0] == "-c" else [*COMMAND, *arguments]
    assert any(seconds_of(command) < 0.5 for _ in range(20))  # other programs can only slow it down


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


def test_ctrl_c_leaves_nothing_and_exits_with_130(scene: Path, tmp_path: Path) -> None:
    # A shell that started the tests in the background has them ignore SIGINT; the command must not inherit that.
    code = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += "from gradcon.cli import main; sys.exit(main())"
    arguments = ["estimate", str(scene), "--out", str(tmp_path / "out"), "--method", "gcm", "--engine", "reference"]
    command = [sys.executable, "-c", code, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert any("solve 1 of" in line for line in process.stderr)  # a slow look at the views may say so before
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    assert not any(tmp_path.iterdir())


def test_a_closed_pipe_ends_the_command_quietly(estimated: Any, scene: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*COMMAND, "evaluate", estimated[0], scene], stdout=write, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_streams_that_the_shell_has_closed_do_no_harm(scene: Path, tmp_path: Path, closed: str) -> None:
    out = tmp_path / "out"
    arguments = ["estimate", scene, "--out", out, "--method", "gcm", "--solves", "1", "--engine", "reference"]
    line = f"{shlex.join(map(str, [*COMMAND, *arguments]))} {closed}"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (out / "result.json").is_file()
    assert ("written" in done.stdout) == ("1>" not in closed)
    refused = subprocess.run(f"{line} --alpha=0", shell=True, capture_output=True, text=True, check=False)
    assert (refused.returncode, refused.stdout) == (2, "")  # its sentence goes to stderr or nowhere
