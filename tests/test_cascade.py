"""Each scale is filtered from the next finer one, with the same few taps, and comes near to the paper's Gaussians."""

from __future__ import annotations

import numpy as np
import pytest

from gradcon.engines import cascade, model

SCALES = range(8)


def padded(taps: np.ndarray, q: int) -> np.ndarray:
    return np.pad(taps, cascade.radius(q) - len(taps) // 2)


@pytest.mark.parametrize("q", SCALES)
def test_a_scale_comes_near_to_the_gaussian_and_its_derivative(q: int) -> None:
    smooth, derived = padded(model.gaussian(model.sigma(q)), q), padded(model.gaussian_derivative(model.sigma(q)), q)
    assert np.abs(cascade.smoothing(q) - smooth).sum() <= 0.006
    assert np.abs(cascade.derivative(q) - derived).sum() <= 0.022 * np.abs(derived).sum()
    if q == 0:
        assert np.array_equal(cascade.smoothing(0), smooth)
        assert np.array_equal(cascade.derivative(0), derived)


@pytest.mark.parametrize("q", SCALES)
def test_constants_and_ramps_are_kept(q: int) -> None:
    offsets = np.arange(-cascade.radius(q), cascade.radius(q) + 1)
    assert cascade.smoothing(q).sum() == pytest.approx(1, abs=1e-9)
    assert cascade.smoothing(q) @ offsets == pytest.approx(0, abs=1e-9)
    assert cascade.derivative(q).sum() == pytest.approx(0, abs=1e-9)
    if q > 0:  # the sampled derivative of scale 0 is the paper's as it is
        assert cascade.derivative(q) @ offsets == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("q", SCALES)
def test_no_scale_takes_more_taps_than_the_first(q: int) -> None:
    assert len(cascade.even_taps(q)) == len(cascade.odd_taps(q)) == 1 + cascade.PAIRS
