"""Each equation against a direct, tiny computation of it, and the properties of the filters."""

import math

import numpy as np
import pytest
from scipy import ndimage

from gradcon.engines import cascade, model, reference


def smooth(image, q):
    return reference.correlate(image, cascade.smoothing(q))


def derivative(image, q, axis):
    return reference.derivative(image, cascade.smoothing(q), cascade.derivative(q), axis)


@pytest.mark.parametrize("q", range(6))
def test_gaussian_has_the_papers_width_and_unit_sum(q):
    s = model.sigma(q)
    assert s == pytest.approx(2**q / math.sqrt(2))
    taps = model.gaussian(s)
    k = np.arange(len(taps)) - len(taps) // 2
    assert taps.sum() == pytest.approx(1)
    assert (taps * k**2).sum() == pytest.approx(s**2, rel=2e-2)
    assert len(taps) == 2 * int(4 * s + 0.5) + 1


@pytest.mark.parametrize("q", range(4))
def test_derivative_of_gaussian_reads_a_ramps_slope(q):
    ramp = np.tile(0.25 * np.arange(200.0), (3, 1))
    inner = derivative(ramp, q, axis=1)[:, 60:140]
    assert inner == pytest.approx(0.25, rel=2e-2)  # sampled, not integrated: 1.3 % off at the finest scale
    assert derivative(ramp, q, axis=0)[:, 60:140] == pytest.approx(0, abs=1e-12)


def test_filters_are_symmetric_operators():
    rng = np.random.default_rng(0)
    a, b = np.zeros((40, 41)), np.zeros((40, 41))
    a[12:28, 12:29], b[12:28, 12:29] = rng.normal(size=(16, 17)), rng.normal(size=(16, 17))
    assert np.vdot(smooth(a, 1), b) == pytest.approx(np.vdot(a, smooth(b, 1)))
    assert np.vdot(derivative(a, 1, 1), b) == pytest.approx(-np.vdot(a, derivative(b, 1, 1)))


def test_smoothing_is_scipys_gaussian():
    image = np.random.default_rng(1).random((30, 31))
    for q, tolerance in ((0, 1e-12), (1, 4e-3), (2, 4e-3)):  # scales above 0 come from a cascade
        expected = ndimage.gaussian_filter(image, model.sigma(q), mode="nearest", truncate=4.0)
        assert smooth(image, q) == pytest.approx(expected, abs=tolerance)


def test_cubic_taps_interpolate_ramps_and_samples_exactly():
    for f in (0.0, 0.05, 0.3, 0.5, 0.99):
        taps = np.array(model.cubic(f))
        assert taps.sum() == pytest.approx(1)
        assert taps @ [-1, 0, 1, 2] == pytest.approx(f)  # a = -1/2 only: a ramp is reproduced
        assert taps @ [1, 0, 1, 4] == pytest.approx(f * f)  # and a parabola
    assert model.cubic(0.0) == pytest.approx((0, 1, 0, 0))


def test_acquisition_noise_is_the_power_left_by_the_filter():
    rng = np.random.default_rng(2)
    for q in (1, 2):
        noise = 0.3 * rng.normal(size=(400, 400))
        left = smooth(noise, q)[40:-40, 40:-40].var()
        assert left == pytest.approx(model.acquisition_noise(0.3, model.sigma(q)), rel=0.1)


def test_pointwise_equations():
    assert model.mean_gradient(3.0, 1.0) == 2.0
    assert model.gradient_inconsistency(3.0, 1.0) == 1.0
    assert model.along(2.0, -1.0, 3.0, 4.0) == 2.0
    assert model.residual_disparity(3.0, 1.0, 0.5) == 2.0
    assert model.scale_inconsistency(2.0, 3.0) == 6.0
    assert model.disparity_error(0.5, 1.5, 3.0, 1.0, 0.25) == 0.75
    assert model.noise_power(2.0, 3.0, 5.0, 7.0) == 4 * 3 + 5 + 7
    assert model.data_reweight(0.2) == pytest.approx(1 / math.sqrt(0.04 + 1e-7))
    assert model.smoothness_reweight(0.3, 0.4) == pytest.approx(1 / (2 * math.sqrt(0.25 + 1e-7)))
    assert model.link(1.0, 3.0) == 2.0
    assert model.step_limit(2, 4.0) == 1.0
    assert model.step_limit(0, 4.0) == 0.25
    assert model.data_deviation(0.0, 3.0) == pytest.approx(3.0)
    assert model.data_deviation(1e4, 1e9) == pytest.approx(0.01)
    assert model.deviation(0.3, 0.16) == pytest.approx(0.5)


def test_float32_stays_float32():
    x = np.float32(0.3)
    for value in (
        model.mean_gradient(x, x), model.noise_power(x, x, x, x), model.data_reweight(x), model.cubic(x)[1],
        model.smoothness_reweight(x, x), model.disparity_error(x, x, x, x, x), model.data_deviation(x, x),
        model.deviation(x, x),
    ):  # fmt: skip
        assert value.dtype == np.float32


def test_local_variance_is_the_weighted_variance():
    rng = np.random.default_rng(3)
    w = rng.normal(size=(21, 21))
    taps = model.gaussian(model.SIGMA_C)
    r = len(taps) // 2
    weights = np.outer(taps, taps)
    patch = w[10 - r : 11 + r, 10 - r : 11 + r]
    mean = (weights * patch).sum()
    expected = (weights * (patch - mean) ** 2).sum()
    variance = model.local_variance(reference.blur(w * w, model.SIGMA_C), reference.blur(w, model.SIGMA_C))
    assert variance[10, 10] == pytest.approx(expected)
    assert model.local_variance(np.float64(1.0), np.float64(1.0 + 1e-12)) == 0  # rounding never makes it negative


def test_information_is_the_inverse_of_the_least_expected_error():
    """The first appendix: W = Z / N^2 minimises E = sum W^2 g^2 N^2 / (sum W g^2)^2, and E = 1 / sum(g^2 / N^2)."""
    rng = np.random.default_rng(4)
    g, N2 = rng.normal(size=9), rng.random(9) + 0.1

    def error(W):
        return (W**2 * g**2 * N2).sum() / (W * g**2).sum() ** 2

    best = error(1 / N2)
    assert best == pytest.approx(1 / model.information(g, N2).sum())
    for _ in range(50):
        assert error(np.abs(1 / N2 * (1 + 0.2 * rng.normal(size=9)))) >= best


def brute_force_predecessors(B):
    """Straight from the paper: n limits t if it is no further out and both lie in one closed sector."""
    angle = np.degrees(np.arctan2(B[:, 1], B[:, 0])) % 360
    length = np.hypot(*B.T)
    pairs = set()
    for k in range(8):
        inside = [t for t in range(len(B)) if 45 * k - 1e-6 <= angle[t] <= 45 * (k + 1) + 1e-6]
        inside += [t for t in range(len(B)) if k == 7 and angle[t] <= 1e-6]
        pairs |= {(n, t) for n in inside for t in inside if length[n] <= length[t] + 1e-9}
    return pairs


GRID = np.array([(x, y) for y in range(-4, 5) for x in range(-4, 5) if (x, y) != (0, 0)], float)
CROSS = GRID[(GRID == 0).any(axis=1)]
LINE = np.array([[1.0, 0], [-1, 0], [-2, 0], [-5, 0]])


@pytest.mark.parametrize("B", [CROSS, LINE, GRID[np.abs(GRID[:, 0]) == np.abs(GRID[:, 1])]], ids=["+", "line", "x"])
def test_floors_are_the_papers_sectors_if_all_views_lie_in_their_directions(B):
    floors = model.floors(B)
    assert set(np.unique(floors)) == {0.0, 1.0}
    assert {(n, t) for t, n in np.argwhere(floors)} == brute_force_predecessors(B)


def test_directions_without_views_of_their_own_are_left_out():
    assert len(model.memberships(CROSS)) == 4
    assert len(model.memberships(LINE)) == 2
    assert len(model.memberships(GRID)) == 8
    assert len(model.memberships(np.array([[1.0, 0.1], [2, 0.2], [3, 0.25]]))) == 1


@pytest.mark.parametrize("degrees", [0, 10, 22.5, 30, 45])
def test_views_in_one_direction_limit_each_other_fully_wherever_it_points(degrees):
    turn = np.radians(degrees)
    B = np.arange(1, 5)[:, None] * np.array([[np.cos(turn), np.sin(turn)]])
    assert model.floors(B) == pytest.approx(np.tril(np.ones((4, 4))))


@pytest.mark.parametrize("seed", range(8))
def test_a_little_noise_changes_the_floors_a_little(seed):
    """Neither a border between directions nor one between rings may let a view in or out at once."""
    rng = np.random.default_rng(seed)
    scattered = rng.uniform(1, 4, (16, 1)) * [[np.cos(a), np.sin(a)] for a in rng.uniform(0, 7, 16)]
    for B in (CROSS, GRID, scattered):
        noise = rng.normal(0, 1, B.shape)
        moved = [np.abs(model.floors(B + size * noise) - model.floors(B)).max() for size in (1e-3, 1e-5)]
        assert moved[0] < 0.2
        assert moved[1] < 0.002


def test_views_at_right_angles_do_not_limit_each_other():
    rng = np.random.default_rng(9)
    B = rng.normal(size=(40, 2))
    cosine = (B @ B.T) / np.outer(*[np.hypot(*B.T)] * 2)
    assert (model.floors(B)[cosine <= 0] == 0).all()


def test_smoothness_operator_is_symmetric_positive_semidefinite_and_ignores_constants():
    rng = np.random.default_rng(6)
    for shape in ((5, 7), (6, 4), (1, 9), (8, 1)):
        L = reference.smoothness_operator(rng.normal(size=shape), reweight=True).toarray()
        assert np.allclose(L, L.T)
        assert np.linalg.eigvalsh(L).min() > -1e-9
        assert np.allclose(L @ np.ones(L.shape[0]), 0)
    plain = reference.smoothness_operator(rng.normal(size=(3, 3)), reweight=False).toarray()
    assert plain[4].tolist() == [0, -1, 0, -1, 4, -1, 0, -1, 0]
