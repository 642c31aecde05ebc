"""The methods' stages are the paper's."""

import numpy as np
import pytest

from gradcon import InputError, Options
from gradcon.engines import Weighting
from gradcon.methods.schedules import RECIPES, build

CROSS = np.array([(s * k * (a == 0), s * k * (a == 1)) for k in (1, 2, 3, 4) for a in (0, 1) for s in (1, -1)], float)


def test_gcm_uses_everything_at_once():
    (stage,) = build("gcm", CROSS, 0.5)
    assert stage.scales == (2, 1, 0)
    assert len(stage.views) == 16
    assert (stage.alpha, stage.limit) == (0.5, 1.0)
    assert stage.weighting == Weighting(True, True, True)


def test_single_scale_limit_is_a_quarter():
    for method in ("gcm", "naive"):
        (stage,) = build(method, CROSS, 0.5, scales=1)
        assert (stage.scales, stage.limit) == ((0,), 0.25)


def test_more_than_three_scales_slide_a_window():
    stages = build("gcm", CROSS[:4], 0.5, scales=6)
    assert [s.scales for s in stages] == [(5, 4, 3), (4, 3, 2), (3, 2, 1), (2, 1, 0)]
    assert [s.alpha for s in stages] == [4.0, 2.0, 1.0, 0.5]
    assert [s.limit for s in stages] == [32.0, 16.0, 8.0, 4.0]


def test_coarse_to_fine_takes_one_scale_at_a_time():
    stages = build("coarse-to-fine", CROSS, 0.5)
    assert [s.scales for s in stages] == [(2,), (1,), (0,)]
    assert [s.alpha for s in stages] == [2.0, 1.0, 0.5]
    assert [s.limit for s in stages] == [1.0, 0.5, 0.25]
    assert not any(s.weighting.model for s in stages)


def test_calibrated_cameras_near_a_ring_belong_to_it():
    noisy = CROSS + np.random.default_rng(0).normal(0, 0.01, CROSS.shape)
    assert [len(stage.views) for stage in build("progressive", noisy, 0.5)] == [4, 8, 12, 16]


def test_progressive_takes_in_ring_after_ring():
    stages = build("progressive", CROSS, 0.5)
    assert [1 + len(s.views) for s in stages] == [5, 9, 13, 17]
    assert [s.limit for s in stages] == [1.0, 0.5, pytest.approx(1 / 3), 0.25]
    assert [s.alpha for s in stages] == [0.125, 0.25, 0.375, 0.5]


def test_limits_do_not_depend_on_the_baselines_unit():
    for method in RECIPES:
        assert build(method, 7 * CROSS, 0.5) == build(method, CROSS, 0.5)


def test_ablations():
    assert build("gcm", CROSS, 0.5, without="gradient")[0].weighting == Weighting(True, False, True)
    assert build("gcm", CROSS, 0.5, without="scale")[0].weighting == Weighting(True, True, False)


@pytest.mark.parametrize(
    ("method", "without"), [("gmc", None), ("gcm", "grad"), ("naive", "scale"), ("coarse-to-fine", "gradient")]
)
def test_unknown_choices_are_refused_by_name(method, without):
    with pytest.raises(InputError, match=without or method):
        Options(method, without=without)
