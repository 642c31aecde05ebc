"""The judge without truth: what a second map of the views that were left out says about a first one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.stats import spearmanr

from gradcon import Options, Scene, estimate, leave_out, synth
from gradcon.cli import main
from gradcon.experiments import judge
from gradcon.judging.opinion import asked_views
from gradcon.scene.variants import without_views
from layered_scenes import CROSS, Layer, edge, layered
from sweep_cases import Waves

NEAREST = 8  # targets, of the 16
PATCH = np.s_[32:64, 6:38]  # on the far surface


def nearest_of(scene: Scene) -> Scene:
    return without_views(scene, scene.target_names[NEAREST:])


def rmse(disparity: np.ndarray, truth: ArrayLike) -> float:
    return float(np.sqrt(np.mean((disparity - truth) ** 2)))


def fatter(disparity: np.ndarray, pixels: int) -> np.ndarray:
    """Let the near surface, on the right, grow to the left."""
    return np.maximum(disparity, np.roll(disparity, -pixels, axis=1))


def test_methods_and_settings_rank_as_their_true_errors_do() -> None:
    scene = synth.render("occlusion", (96, 96))
    few = nearest_of(scene)
    settings = [
        Options(),
        Options("sweep", without="edges"),
        Options("sweep", without="surface"),
        Options("sweep", without="arms"),
        Options("gcm", solves=20),
        Options("gcm", solves=3),
        Options("gcm", alpha=4, solves=20),
        Options("naive", solves=20),
    ]
    maps = [estimate(few, each, check_directions=False).disparity for each in settings]
    judged = [leave_out(scene, each, used=few.target_names) for each in maps]
    assert all(each.independent for each in judged)
    assert (
        spearmanr([each.suspected_rmse for each in judged], [rmse(each, scene.ground_truth) for each in maps])[0] > 0.75
    )


def test_a_rim_that_is_too_wide_is_suspected_by_as_much_as_it_is_wrong() -> None:
    scene = edge(0, CROSS, noise=0.004)
    used = scene.target_names[:NEAREST]
    maps = [fatter(scene.ground_truth, pixels) for pixels in (2, 4, 8)]
    for each in maps:
        judged = leave_out(scene, each, used=used)
        assert judged.suspected_rmse == pytest.approx(rmse(each, scene.ground_truth), rel=0.15)
        wrong = each != scene.ground_truth
        assert judged.failures[wrong].mean() > 20 * judged.failures[~wrong].mean()


def ranked(scene: Scene) -> list[float]:
    """Judge the truth and worse and worse maps."""
    truth = scene.ground_truth
    maps = [truth, truth + 0.1, fatter(truth, 2), fatter(truth, 4), fatter(truth, 8)]
    judged = [leave_out(scene, each, used=scene.target_names[:NEAREST]).suspected_rmse for each in maps]
    assert np.all(np.diff([rmse(each, scene.ground_truth) for each in maps]) > 0)
    return judged


def with_patch(pixels_of: Callable[[int], np.ndarray]) -> Scene:
    """Return an edge with a patch on its far surface that shows something else in each view."""
    scene = edge(0, CROSS, noise=0.004)
    views = [np.moveaxis(view, 0, -1).copy() for view in scene.colours]
    for k, view in enumerate(views):
        view[PATCH] = pixels_of(k)
    return Scene(views[0], views[1:], scene.baselines, ground_truth=scene.ground_truth)


def test_what_no_disparity_explains_is_not_held_against_a_map() -> None:
    rng = np.random.default_rng(3)
    glitter = with_patch(lambda k: rng.integers(0, 256, (32, 32, 3), "u1"))
    judged = leave_out(glitter, glitter.ground_truth, used=glitter.target_names[:NEAREST])
    inside = np.zeros(glitter.shape, bool)
    inside[PATCH] = True
    assert judged.sure < 100 * (1 - 0.2 * inside.mean())
    assert rmse(judged.failures[~inside], 0) < 0.08
    assert np.all(np.diff(ranked(glitter)) > 0)


def test_a_mirror_costs_every_map_the_same_so_the_ranks_stay() -> None:
    behind = layered([Layer(-2.5, Waves(5))], CROSS)
    mirror = with_patch(lambda k: np.moveaxis(behind.colours[k], 0, -1)[PATCH])
    judged = leave_out(mirror, mirror.ground_truth, used=mirror.target_names[:NEAREST])
    assert np.median(judged.failures[PATCH]) == pytest.approx(2.5 - 0.7, abs=0.1)  # the depth of what it shows
    assert np.all(np.diff(ranked(mirror)) > 0)


def test_a_map_of_all_views_is_judged_by_half_of_them() -> None:
    scene = edge(0, CROSS, noise=0.004)
    judged = leave_out(scene, estimate(scene))
    assert not judged.independent
    assert len(judged.views) == 16
    assert 0 < judged.suspected_rmse < 0.2


@pytest.mark.parametrize("left", [[9], [3, 16], [9, 10, 11, 12, 13]])
def test_the_views_that_were_left_out_are_asked_and_others_if_they_are_few(left: list[int]) -> None:
    scene = edge(0, CROSS)
    asked = asked_views(scene, left)
    assert set(left) <= set(asked)
    assert len(asked) == max(4, len(left))


def test_of_two_other_views_one_is_asked() -> None:
    assert len(asked_views(edge(0, CROSS[:2]), [])) == 1


def test_views_that_show_nothing_raise_no_suspicion_and_no_warning() -> None:
    flat = Scene(np.full((32, 32), 0.5), np.full((3, 32, 32), 0.5), CROSS[:3])
    assert np.isfinite(leave_out(flat, np.zeros((32, 32)), used=["target 0"]).suspected_rmse)


@pytest.mark.slow
def test_the_experiment_ranks_the_maps_of_a_scene(tmp_path: Path) -> None:
    for seed, name in enumerate(("cotton", "town")):
        synth.write("occlusion", tmp_path / "hci" / name, (64, 64), views=9, seed=seed)
    command = ["reproduce", "--hci", str(tmp_path / "hci"), "--out", str(tmp_path / "out"), "--only", "judge"]
    assert main([*command, "--quick", "--engine", "cpu", "--workers", "1"]) == 0
    found = json.loads((tmp_path / "out" / "results.json").read_text())["tables"]["judge"]
    assert list(found) == ["cotton", "mean"]  # a quick run takes one scene
    errors = found["cotton"]["maps"]
    assert set(judge.QUICK_SETTINGS) < set(errors)
    true, suspected = ([each[name] for each in errors.values()] for name in ("rmse", "suspected_rmse"))
    assert found["cotton"]["rmse"]["all"] == pytest.approx(spearmanr(true, suspected)[0])
    assert found["cotton"]["rmse"]["all"] > 0.8
    assert found["mean"]["rmse"] == found["cotton"]["rmse"]


def test_maps_that_are_equally_good_have_no_rank_correlation() -> None:
    same = {"suspected_rmse": 0.1, "rmse": 0.2, "suspected_badpix_007": 1.0, "badpix_007": 2.0, "rmse_where_right": 0.1}
    row = judge._row("scene", {"errors": {"sweep": same, "gcm": same}, "own_rmse": 0.1, "sure": 90.0})
    assert row["rmse"] == {"all": None, "estimated": None, "others": None}
    assert judge._mean([row, row])["rmse"]["all"] is None
