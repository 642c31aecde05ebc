"""The recorded weights are those that the run used."""

import io

import numpy as np
import pytest

from engine_cases import data_term, make
from gradcon import Options, estimate, synth
from gradcon.arrays import sampled
from gradcon.cli import main
from gradcon.io.images import png
from gradcon.methods.recorder import MOST_CODES, SOLVES, Recorder
from gradcon.methods.schedules import build


@pytest.fixture(scope="module")
def scene():
    return synth.render("planes", size=(40, 48), views="cross")


@pytest.mark.parametrize("engine", ["cpu", "reference"])
@pytest.mark.parametrize("method", ["gcm", "naive"])
def test_recording_changes_nothing(scene, engine, method):
    options = Options(method, solves=4)
    plain, recorded = (estimate(scene, options, engine=engine, keep_weights=keep) for keep in (False, True))
    np.testing.assert_array_equal(plain.disparity, recorded.disparity)
    np.testing.assert_array_equal(plain.uncertainty, recorded.uncertainty)
    assert plain.weights is None


def test_what_is_kept_is_what_was_used(scene):
    seen = [np.zeros(scene.shape, np.float32)]
    options = Options("gcm", solves=9)
    kept = estimate(
        scene, options, engine="cpu", keep_weights=True, callback=lambda _, w: seen.append(w.copy())
    ).weights
    assert kept.solves.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    engine = make("cpu")(scene)
    (stage,) = build("gcm", scene.baselines, 0.5)
    assert kept.scales.tolist() == list(stage.scales)
    for k, solve in enumerate(kept.solves):
        np.testing.assert_array_equal(kept.disparities[k], seen[solve - 1])  # small enough to be kept whole
        w = seen[solve - 1] * np.float32(scene.unit)
        weights = data_term(engine, w, stage, sample=kept.step).weights
        shares = weights / weights.sum(axis=(2, 3), keepdims=True)
        assert np.abs(np.sqrt(kept.shares[k]) - np.sqrt(shares)).max() <= 0.5 / 255 + 1e-6


def test_with_unit_weights_all_views_in_use_have_equal_shares(scene):
    kept = estimate(scene, Options("progressive", solves=60), keep_weights=True).weights
    first, last = kept.shares[0, 0, 0, 0], kept.shares[-1, 0, 0, 0]
    nearest = np.hypot(*scene.baselines.T) <= 1 + 1e-9
    assert first[nearest] == pytest.approx(1 / nearest.sum(), rel=0.02)
    assert not first[~nearest].any()
    assert last == pytest.approx(1 / len(last), rel=0.02)


def test_first_solves_and_the_last_are_recorded(scene):
    recorder = Recorder(make("cpu")(scene), scene.shape, len(scene.targets), 3, scene.unit)
    taken = []
    for solve in range(1, 301):
        if recorder.wants(solve):
            recorder.solves.append(solve)
            taken.append(solve)
    assert taken[:10] == [1, 2, 3, 4, 5, 6, 7, 8, 10, 12]
    assert len(taken) < 30
    stopped = estimate(scene, Options("gcm", solves=13), keep_weights=True).weights
    assert 13 not in taken
    assert stopped.solves[-1] == 13


@pytest.mark.parametrize(("shape", "views", "scales"), [((512, 512), 16, 3), ((1000, 1000), 80, 3), ((30, 2000), 8, 6)])
def test_records_stay_small(shape, views, scales):
    recorder = Recorder(None, shape, views, scales, 1.0)
    down, across = sampled(shape, recorder.step)
    assert down * across * views * scales * SOLVES <= 1.1 * MOST_CODES
    assert down * across >= 100
    assert max(sampled(shape, recorder.disparity_step)) <= 256


def test_the_file_holds_the_record(scene, tmp_path):
    result = estimate(scene, Options("gcm", solves=3), keep_weights=True)
    result.save(tmp_path)
    with np.load(io.BytesIO((tmp_path / "weights.npz").read_bytes()), allow_pickle=False) as file:
        np.testing.assert_array_equal(file["codes"], result.weights.codes)
        np.testing.assert_array_equal(file["solves"], [1, 2, 3])
        assert (file["step"], file["disparity_step"], file["scales"].tolist()) == (result.weights.step, 1, [2, 1, 0])
        low, high = file["disparity_range"]
        back = low + (high - low) / 255 * file["disparities"]
        assert np.abs(back - result.weights.disparities).max() <= 0.51 * (high - low) / 255
    estimate(scene, Options("gcm", solves=3)).save(tmp_path)
    assert not (tmp_path / "weights.npz").exists()  # it belonged to the earlier result


def test_the_command_keeps_weights(tmp_path, capsys):
    folder = synth.write("planes", tmp_path / "scene", (32, 32), views="cross")
    assert (
        main(
            [
                "estimate",
                str(folder),
                "--out",
                str(tmp_path / "out"),
                "--method",
                "gcm",
                "--solves",
                "2",
                "--keep-weights",
            ]
        )
        == 0
    )
    assert "weights.npz" in capsys.readouterr().out
    assert (tmp_path / "out" / "weights.npz").is_file()


def test_weights_of_a_video_are_refused(tmp_path, capsys):
    for view in ("0_0", "0_1", "1_0", "1_1"):
        (tmp_path / "video" / view).mkdir(parents=True)
        for frame in ("000", "001"):
            (tmp_path / "video" / view / f"{frame}.png").write_bytes(png.encode(np.zeros((16, 16), np.uint8)))
    assert main(["estimate", str(tmp_path / "video"), "--out", str(tmp_path / "out"), "--keep-weights"]) == 2
    assert "is a video" in capsys.readouterr().err
