"""The CUDA sweep alone: what it refuses, and that the order of threads changes nothing."""

import numpy as np
import pytest

from engine_cases import needs_compiler
from gradcon.engines.cuda.sweep import CudaSweep
from gradcon.engines.reference_sweep import ReferenceSweep
from gradcon.engines.sweep import ArmCosts, Views
from simt import EmulatedGpu
from sweep_cases import CASES, MATCHINGS, ask, blank_views, random_matching, stepped_map

pytestmark = [pytest.mark.slow, needs_compiler]


def emulated(descending: bool = False):
    return lambda views: CudaSweep(views, EmulatedGpu(descending=descending))


def test_threads_in_descending_order_give_the_same_bytes():
    """A missing barrier shows in one of the two orders."""
    case, found = CASES["cross, bands of their own"], []
    for make in (emulated(), emulated(descending=True)):
        engine, w = make(case.views), stepped_map(case.shape)
        results = [
            case.costs(make),
            *MATCHINGS["odd sizes"].best(make),
            ask(engine, "difference", -4, 9, 0.23, 2),
            ask(engine, "fit_planes", w, 8, 1, 0.15, 7.0, 0.5),
            ask(engine, "median", w, 2, 0.07),
        ]
        found.append([array.tobytes() for array in results])
    assert found[0] == found[1]


@pytest.mark.parametrize("labels", [32, 33, 64, 96, 128, 160, 192, 224, 256])
def test_any_number_of_labels_up_to_the_most(labels):
    matching = random_matching((6, 7, labels), 300, 30, 400)
    for got, expected in zip(matching.best(emulated()), matching.best(ReferenceSweep), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_more_labels_are_refused():
    with pytest.raises(ValueError, match="at most 256 labels, not 257"):
        random_matching((2, 3, 257), 9, 3, 9).best(emulated())


def test_penalties_that_would_overflow_are_refused():
    with pytest.raises(ValueError, match="penalties of at most 500000"):
        random_matching((2, 3, 5), 9, 3, 1e6).best(emulated())


def test_windows_beyond_the_shared_memory_are_refused():
    shape = 9, 14
    engine, w, noise = emulated()(blank_views(shape)), stepped_map(shape), np.ones(shape, np.float32)
    with pytest.raises(ValueError, match="median of radius 30"):
        engine.median(w, 30, 0.1)
    with pytest.raises(ValueError, match="blur of 40"):
        engine.costs(w, 3, 1.0, noise, ArmCosts(0, 40, 0.2, 1), 512.0)


def test_other_pixels_are_refused():
    views = Views(np.zeros((2, 2, 5, 6), np.uint8), 1 / 255, np.array([[1.0, 0, 0]]), np.array([0, 1], np.int32))
    with pytest.raises(ValueError, match="2 channels of uint8"):
        emulated()(views)
