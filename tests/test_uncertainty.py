"""The predicted standard deviation against the true error."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gradcon import InputError, Options, cli, estimate, evaluate_uncertainty, synth
from gradcon.io.images import read_image
from gradcon.pictures.uncertainty import uncertainty_picture
from gradcon.result.uncertainty import DROPPED

pytestmark = pytest.mark.slow


def errors_and_deviations(shape: tuple[int, int] = (60, 80)) -> tuple[np.ndarray, np.ndarray]:
    """Deviations of all sizes, and normal errors that have them."""
    rng = np.random.default_rng(5)
    deviation = 10 ** rng.uniform(-3, 0, shape)
    return rng.normal(0, deviation), deviation


def test_a_prediction_that_is_right_is_found_to_be_right() -> None:
    error, deviation = errors_and_deviations()
    found = evaluate_uncertainty(error, deviation, np.zeros_like(error))
    assert found["pixels"] == error.size
    assert found["within"]["1"] == pytest.approx(68.3, abs=2)
    assert found["within"]["2"] == pytest.approx(95.4, abs=1)
    for group in found["groups"]:
        assert group["error_rms"] == pytest.approx(group["predicted"], rel=0.3)
    assert found["rmse"][0] == pytest.approx(np.sqrt(np.mean(error**2)))
    assert all(np.diff(found["rmse"]) < 0)
    assert all(np.less_equal(found["rmse_oracle"], np.multiply(found["rmse"], 1 + 1e-12)))
    assert 60 < found["reduction_20"] < found["reduction_20_oracle"]


def test_the_oracle_is_reached_by_the_error_itself_and_chance_gains_nothing() -> None:
    error, deviation = errors_and_deviations()
    perfect = evaluate_uncertainty(error, np.abs(error), np.zeros_like(error))
    assert perfect["rmse"] == pytest.approx(perfect["rmse_oracle"])
    assert perfect["ratio"] == pytest.approx(1)
    shuffled = np.random.default_rng(1).permutation(deviation.ravel()).reshape(deviation.shape)
    assert abs(evaluate_uncertainty(error, shuffled, np.zeros_like(error))["reduction_20"]) < 5


def test_a_prediction_twice_as_large_has_twice_the_ratio_and_the_same_order() -> None:
    error, deviation = errors_and_deviations()
    one, two = (evaluate_uncertainty(error, k * deviation, np.zeros_like(error)) for k in (1, 2))
    assert two["ratio"] == pytest.approx(2 * one["ratio"])
    assert two["rmse"] == pytest.approx(one["rmse"])


def test_unknown_truth_is_left_out_and_small_maps_work() -> None:
    error, deviation = errors_and_deviations((8, 9))
    truth = np.zeros_like(error)
    truth[:4] = np.nan
    found = evaluate_uncertainty(error, deviation, truth)
    assert found == evaluate_uncertainty(error[4:], deviation[4:], truth[4:])
    single = evaluate_uncertainty([[1.0]], [[0.5]], [[0.0]])
    assert single["rmse"] == [1.0] * len(DROPPED)


@pytest.mark.parametrize(
    ("uncertainty", "said"),
    [(np.ones((3, 3)), "use the maps of one result"), (np.full((4, 5), -1.0), "not standard deviations"),
     (np.full((4, 5), np.nan), "not standard deviations")],
)  # fmt: skip
def test_bad_uncertainty_is_refused(uncertainty: np.ndarray, said: str) -> None:
    with pytest.raises(InputError, match=said):
        evaluate_uncertainty(np.zeros((4, 5)), uncertainty, np.zeros((4, 5)))


def test_uncertainty_is_high_beside_jumps() -> None:
    scene = synth.render("occlusion", size=(128, 128))
    result = estimate(scene, Options("gcm", solves=40))
    truth = scene.ground_truth
    assert truth is not None
    jump = np.maximum.reduce([np.abs(truth - np.roll(truth, 1, axis=axis)) for axis in (0, 1)]) > 0.3
    inner = np.s_[8:-8, 8:-8]
    beside, elsewhere = result.uncertainty[inner][jump[inner]], result.uncertainty[inner][~jump[inner]]
    assert np.median(beside) > 4 * np.median(elsewhere)
    found = evaluate_uncertainty(result.disparity, result.uncertainty, truth)
    assert found["reduction_20"] > 30


def test_the_command_prints_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    synth.write("planes", tmp_path / "scene", size=(48, 48), views=5)
    out = tmp_path / "out"
    assert (
        cli.main(
            [
                "estimate",
                str(tmp_path / "scene"),
                "--out",
                str(out),
                "--method",
                "gcm",
                "--solves",
                "5",
                "--engine",
                "cpu",
            ]
        )
        == 0
    )
    capsys.readouterr()
    common = ["evaluate", str(out), str(tmp_path / "scene"), "--uncertainty"]
    assert cli.main(common) == 0
    printed = capsys.readouterr().out
    assert "a fifth dropped lowers RMSE by" in printed
    assert str(out / "uncertainty.png") in printed
    assert len(np.unique(read_image(out / "uncertainty.png"))) > 20
    assert cli.main([*common, "--json", "--picture", str(tmp_path / "plots.png")]) == 0
    found = json.loads(capsys.readouterr().out)["uncertainty"]
    assert found["dropped"] == list(DROPPED)
    assert (tmp_path / "plots.png").is_file()
    # The option's old name still works.
    assert cli.main([*common[:-1], "--confidence", "--json", "--picture", str(tmp_path / "plots.png")]) == 0
    assert json.loads(capsys.readouterr().out)["uncertainty"] == found
    # A file may hold both maps; a single map has no uncertainty.
    assert cli.main(["convert", str(out), str(tmp_path / "all.npz")]) == 0
    assert cli.main(["evaluate", str(tmp_path / "all.npz"), str(tmp_path / "scene"), "--uncertainty"]) == 0
    capsys.readouterr()
    assert cli.main(["evaluate", str(out / "disparity.pfm"), str(tmp_path / "scene"), "--uncertainty"]) == 2
    assert "is a single map without an uncertainty" in capsys.readouterr().err
    # The plots of an earlier result are removed with it.
    assert (
        cli.main(
            [
                "estimate",
                str(tmp_path / "scene"),
                "--out",
                str(out),
                "--method",
                "gcm",
                "--solves",
                "2",
                "--engine",
                "cpu",
            ]
        )
        == 0
    )
    assert not (out / "uncertainty.png").exists()


def test_zero_errors_and_deviations_can_be_drawn() -> None:
    zero = np.zeros((5, 5))
    assert uncertainty_picture(evaluate_uncertainty(zero, zero, zero), "$all$ right").startswith(b"\x89PNG")
