"""The plane sweep of the cpu engine: tiles and threads leave no trace in the results."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from gradcon.engines.cpu.sweep import CpuSweep
from gradcon.engines.reference_sweep import ReferenceSweep
from gradcon.engines.sweep import ArmCosts, Views

HEIGHT, WIDTH = 35, 230  # more than two tiles along each axis, none of them whole
STEP = 0.13


@pytest.fixture(scope="module")
def views() -> Views:
    rng = np.random.default_rng(3)
    colours = gaussian_filter(rng.random((6, 3, HEIGHT, WIDTH)), (0, 0, 1, 1))
    epipoles = np.array([(1, 0, 0), (2, 0, 0), (0, -1, 0), (0.5, 1.5, 0), (-1, 0.3, 0.01)])
    return Views((255 * colours).astype(np.uint8), 1 / 255, epipoles, np.array([0, 2, 3, 4, 5], np.int32))


def bands() -> NDArray[np.float32]:
    """Return starts on a slanted plane with a step in it, as at a depth edge."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    return (0.03 * x - 0.1 * y - 6 + 40 * (x > 100)).astype(np.float32)


def noise() -> NDArray[np.float32]:
    return np.random.default_rng(4).uniform(0.05, 0.2, (HEIGHT, WIDTH)).astype(np.float32)


@pytest.mark.parametrize("blur", [0.0, 0.7, 1.4])
def test_costs_are_the_same_across_tiles(views: Views, blur: float) -> None:
    arguments = bands(), 7, STEP, noise(), ArmCosts(0.5, blur, 0.2, 2), 1000.0
    mine, expected = (engine(views).costs(*arguments) for engine in (CpuSweep, ReferenceSweep))
    np.testing.assert_allclose(mine.astype(int), expected, atol=1)


def all_operations(views: Views) -> list[NDArray[Any]]:
    engine = CpuSweep(views)
    costs = engine.costs(bands(), 7, STEP, noise(), ArmCosts(0.5, 0.7, 0.2, 1), 1000.0)
    edges = np.random.default_rng(5).random((4, HEIGHT, WIDTH)).astype(np.float32)
    best = engine.aggregate(costs, edges, 200.0, 2000.0)
    planes = engine.fit_planes(best.label, 8, 2, 0.15, 6.0, 0.5)
    return [engine.difference(-5, 11, STEP, 4), costs, *best, planes, engine.median(best.label, 2, 0.07)]


def test_results_do_not_depend_on_the_number_of_threads(views: Views, monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for threads in (1, 3):
        monkeypatch.setattr(numba, "get_num_threads", lambda threads=threads: threads)
        results.append([array.tobytes() for array in all_operations(views)])
    assert results[0] == results[1]


def test_a_line_of_views_may_have_many_labels(views: Views) -> None:
    """The last path of a diagonal has one pixel, and the band is longer than the vectors are wide."""
    costs = np.random.default_rng(6).integers(0, 100, (HEIGHT, WIDTH, 201)).astype(np.uint16)
    edges = np.ones((4, HEIGHT, WIDTH), np.float32)
    mine, expected = (engine(views).aggregate(costs, edges, 30.0, 200.5) for engine in (CpuSweep, ReferenceSweep))
    for name in mine._fields:
        np.testing.assert_array_equal(getattr(mine, name), getattr(expected, name), err_msg=name)
