"""What replaces functions of SciPy that take longer to import than to run gives the same results."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage, special

from gradcon.engines.sweep_views import _averaged
from gradcon.methods.look.gains import best_fitting
from gradcon.methods.sweep.noise import _normal
from gradcon.methods.sweep.window_means import window_means


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (15, 16), (33, 70)])
@pytest.mark.parametrize("radius", [1, 2, 7])
def test_means_in_windows(shape: tuple[int, int], radius: int) -> None:
    fields = np.random.default_rng(0).normal(size=(2, *shape))
    theirs = [ndimage.uniform_filter(field, 2 * radius + 1, mode="nearest") for field in fields]
    np.testing.assert_allclose(window_means(fields, radius), theirs, rtol=0, atol=1e-14)


def test_the_normal_distribution() -> None:
    x = np.concatenate([[-np.inf, np.inf, 0.0], np.random.default_rng(0).normal(0, 4, 1000)]).reshape(17, -1)
    np.testing.assert_allclose(_normal(x), special.ndtr(x), rtol=1e-13, atol=0)


@pytest.mark.parametrize("size", [1, 2, 5, 6, 100, 101])
def test_the_pixels_that_fit_best(size: int) -> None:
    rng = np.random.default_rng(size)
    difference, seen = rng.random((3, size)), rng.random((3, size)) < 0.7
    seen[0], seen[1] = True, False
    kept = best_fitting(difference, seen, 0.8)
    for each, mask, best in zip(difference, seen, kept, strict=True):
        theirs = mask & (each <= np.quantile(each[mask], 0.8)) if mask.any() else mask
        np.testing.assert_array_equal(best, theirs)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_bytes_are_averaged_like_wider_integers(k: int) -> None:
    colours = np.random.default_rng(0).integers(0, 256, (4, 3, 31, 44), dtype=np.uint8)
    np.testing.assert_array_equal(_averaged(colours, k), _averaged(colours.astype(np.uint16), k))
    assert _averaged(np.full((1, 1, 300, 257), 255, np.uint8), 256).item() == 255
