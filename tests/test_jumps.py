"""The error beside depth jumps, on maps small enough to count."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gradcon import cli, synth
from gradcon.io.pfm import write_pfm
from gradcon.result.jumps import beside_jumps, evaluate_at_jumps


def step(height: float) -> np.ndarray:
    """Return a truth of 20 x 40 pixels that steps between the columns 19 and 20."""
    truth = np.zeros((20, 40))
    truth[:, 20:] = height
    return truth


def test_beside_a_jump_is_within_five_pixels_on_either_side() -> None:
    near = beside_jumps(step(1.0))
    np.testing.assert_array_equal(np.flatnonzero(near[7]), np.arange(14, 26))
    np.testing.assert_array_equal(beside_jumps(step(1.0).T), near.T)
    point = np.zeros((21, 21))
    point[10, 10] = 1
    reach = np.hypot(*(np.indices((21, 21)) - 10))
    assert beside_jumps(point)[reach <= 5].all()
    assert not beside_jumps(point)[reach > 6].any()


def test_errors_are_told_apart() -> None:
    truth = step(1.0)
    estimate = truth + np.where(beside_jumps(truth), 0.5, -0.01)
    found = evaluate_at_jumps(estimate, truth)
    assert found == pytest.approx({"rmse_at_jumps": 0.5, "rmse_elsewhere": 0.01, "jump_pixels": 100 * 12 / 40})


def test_a_small_step_is_no_jump() -> None:
    found = evaluate_at_jumps(step(0.29) + 0.1, step(0.29))
    assert found["rmse_at_jumps"] is None
    assert found["rmse_elsewhere"] == pytest.approx(0.1)
    assert found["jump_pixels"] == 0


def test_the_limit_grows_with_a_large_range() -> None:
    truth = step(0.6)
    assert beside_jumps(truth).any()
    truth[0, 0] = 20.0  # 4 % of the range is now 0.8
    near = beside_jumps(truth)
    assert near[0, 0]
    assert not near[:, 14:].any()


def test_a_jump_inside_a_gap_counts() -> None:
    truth = step(1.0)
    truth[:, 17:23] = np.nan
    near = beside_jumps(truth)
    np.testing.assert_array_equal(np.flatnonzero(near[7]), np.arange(14, 26))
    found = evaluate_at_jumps(np.nan_to_num(truth, nan=9.0), truth)
    assert found == pytest.approx({"rmse_at_jumps": 0, "rmse_elsewhere": 0, "jump_pixels": 100 * 6 / 34})


def test_jumps_everywhere_leave_nothing_elsewhere() -> None:
    truth = np.indices((8, 8)).sum(axis=0) % 2
    assert evaluate_at_jumps(truth, truth) == {"rmse_at_jumps": 0.0, "rmse_elsewhere": None, "jump_pixels": 100.0}


def test_the_command_reports_them_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    synth.write("occlusion", tmp_path / "scene", (48, 48), views=5)
    write_pfm(tmp_path / "zero.pfm", np.zeros((48, 48), np.float32))
    command = ["evaluate", str(tmp_path / "zero.pfm"), str(tmp_path / "scene")]
    assert cli.main([*command, "--json"]) == 0
    assert "jumps" not in json.loads(capsys.readouterr().out)
    assert cli.main([*command, "--json", "--jumps"]) == 0
    found = json.loads(capsys.readouterr().out)["jumps"]
    assert 0 < found["jump_pixels"] < 100
    assert cli.main([*command, "--jumps"]) == 0
    assert f"RMSE beside depth jumps        {found['rmse_at_jumps']:10.4f}" in capsys.readouterr().out
