"""The equations of the Gradient Consistency Model, one small function each, in the paper's letters.

Each docstring ends with the paper's own label of the equation, or with the section that states it.  The functions
take scalars or arrays: the `reference` engine calls them on whole images, and the `cpu` engine compiles them into its
loops.  t counts target views, q scales; a field without arguments is taken at one pixel s.

    I_r, I_t    reference image, target image warped by the current disparity w
    g           directional derivative along the coupling c_t, averaged between I_r and I_t     (g_{t,q})
    dI          I_t - I_r at scale q                                                             (delta I_{t,q})
    G, O2, N2   gradient inconsistency, squared scale inconsistency, expected squared noise
    W, R        weights of the model, weights of the iteratively reweighted least squares

References
----------
J. L. Gray, A. T. Naman and D. S. Taubman, "Multi-view Disparity Estimation Using a Novel Gradient Consistency
Model", arXiv:2405.17029.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

SIGMA_C = 2.0 / 3.0  # of the local variance of w
IRLS_FLOOR = np.float32(1e-7)  # keeps both L1 norms differentiable at 0
TRUNCATE = 4.0  # Gaussians end at this many sigma
MEDIAN_SIZE = 5
UNCERTAINTY_SIGMA = 2.5  # pixels; certainty is a property of a neighbourhood, not of a single pixel
DIRECTIONS = 8
RING_GAP = 0.1  # in shortest baselines: views whose distances differ by more do not stand in one ring

# In float32, so that compiled float32 code stays in float32; float64 code loses nothing, because they are exact.
ZERO, HALF, ONE, THREE, FOUR, FIVE = (np.float32(value) for value in (0, 0.5, 1, 3, 4, 5))

# mypy: disable-error-code="no-untyped-def"


def sigma(q: int) -> float:
    """sigma_q = 2^q / sqrt(2): the standard deviation of scale q's filters, in pixels.  [eqn:sigma_q_defn]"""
    return float(2**q / math.sqrt(2.0))


def width(q: int, composed: bool) -> float:
    """sigma'_q: the standard deviation of the filter that makes scale q, in pixels.  [fig:scale_diagram]

    It is sigma_q, or `composed`: that of the filter of scale 0 followed by the one of sigma_q.
    """
    return math.hypot(sigma(0), sigma(q)) if composed and q > 0 else sigma(q)


def gaussian(s: float) -> NDArray[np.float64]:
    """Return the taps of the sampled Gaussian G_s from -radius to radius; they sum to 1."""
    radius = int(TRUNCATE * s + 0.5)
    k = np.arange(-radius, radius + 1)
    taps = np.exp(-0.5 * (k / s) ** 2)
    return taps / taps.sum()


def gaussian_derivative(s: float) -> NDArray[np.float64]:
    """Return the taps of G'_s in correlation order: a rising ramp gives a positive value.  [eqn:nabla_I_defn]"""
    taps = gaussian(s)
    k = np.arange(len(taps)) - len(taps) // 2
    return k / s**2 * taps


def cubic(f):
    """Return the four taps of cubic convolution (a = -1/2) at offsets -1, 0, 1, 2, for f in [0, 1) past a sample.

    Only this a reproduces straight ramps; any other would misread a shift as a larger or smaller one.
    """
    h = HALF * f
    e = ONE - f
    return (-h * e * e, ONE - h * f * (FIVE - THREE * f), h * (ONE + f * (FOUR - THREE * f)), -h * f * e)


def along(cx, cy, dx, dy):
    """<grad I, c_t>: only the derivative along the coupling matters.  [eqn:grad_defn]"""
    return cx * dx + cy * dy


def mean_gradient(d_t, d_r):
    """g_{t,q}: the directional derivative, averaged between the warped target and the reference.  [eqn:grad_defn]"""
    return HALF * (d_t + d_r)


def gradient_inconsistency(d_t, d_r):
    """G_{t,q}: half the difference of the two directional derivatives.  [eqn:Grad_diff]"""
    return HALF * (d_t - d_r)


def residual_disparity(sum_abs_dI, sum_abs_g, epsilon):
    """An estimate of the residual disparity at a pixel, from all views at scale 0.  [eqn:tilde_dw]"""
    return sum_abs_dI / (sum_abs_g + epsilon)


def scale_inconsistency(blurred_g2, blurred_dw2):
    """O^2_{t,q}: G_{sigma_q} * g_{t,0}^2 times G_{sigma_q} * (residual disparity)^2.  [eqn:SpatialInconsistency_U]"""
    return blurred_g2 * blurred_dw2


def acquisition_noise(epsilon, s):
    """The power of white noise after a Gaussian of standard deviation s.  [eqn:exp_noise_pwr, last term]"""
    return epsilon * epsilon / (4.0 * math.pi * s * s)


def local_variance(blurred_w2, blurred_w):
    """var_{sigma_c}(w) from G_{sigma_c} * w^2 and G_{sigma_c} * w; rounding may not push it below 0.  [eqn:w_std]"""
    return np.maximum(blurred_w2 - blurred_w * blurred_w, ZERO)


def disparity_error(noise, sum_dI2, sum_g2, epsilon, variance):
    """delta w^2_{q,e}: a bound on the squared error of w, from the data and its smoothness.  [eqn:Delta_w_defn]"""
    return (noise + sum_dI2) / (sum_g2 + epsilon) + variance


def noise_power(G, dw2_e, O2, noise):
    """N^2_{t,q}: gradient inconsistency times disparity error, scale inconsistency, and noise.  [eqn:exp_noise_pwr]

    The weight of view t at scale q is W_{t,q} = Z / N^2_{t,q}.  [eqn:Weights_Proportional]
    """
    return G * G * dw2_e + O2 + noise


def data_reweight(dI):
    """R_{t,q}: the IRLS weight that turns the squared data term into L1, at dw = 0.  [eqn:Linear_Data_term]"""
    return ONE / np.sqrt(dI * dI + IRLS_FLOOR)


def smoothness_reweight(wx, wy):
    """phi: half the IRLS weight that turns the squared gradient of w into its length.  [eqn:RegTerm]

    With wy = 0, it is the weight for the differences along x alone, as the L1 norm of the gradient has it.
    """
    return HALF / np.sqrt(wx * wx + wy * wy + IRLS_FLOOR)


def link(phi_i, phi_j):
    """The strength of the link between two neighbouring pixels in the smoothness operator L."""
    return HALF * (phi_i + phi_j)


def information(g, N2):
    """What one view and scale tells about the disparity; 1 / sum is the least expected error.  [eqn:expected_error]"""
    return g * g / N2


def data_deviation(total_information, prior):
    """The standard deviation that the data term leaves; `prior` is the one without any data."""
    return ONE / np.sqrt(total_information + ONE / (prior * prior))


def deviation(data, variance):
    """The predicted standard deviation of the disparity, from that of the data term and from var_{sigma_c}(w).

    The variance enters as in eqn:Delta_w_defn: beside a jump of w, a pixel may belong to the other side.
    """
    return np.sqrt(data * data + variance)


def prior_deviation(lowest: float, highest: float) -> float:
    """The deviation without data: the range of disparities in the scene, but at least one pixel."""
    return max(float(highest) - float(lowest), 1.0)


def step_limit(q_max: int, longest_baseline: float) -> float:
    """M = 2^q_max / |B_max|: the largest |dw| of one solve, in pixels per unit baseline.  [eqn:Limit_scheme_multi]"""
    return float(2.0**q_max / longest_baseline)


def fade(x):
    """Return 1 for x <= 0 and 0 for x >= 1, without a jump or a kink in between."""
    return np.where(x < 1, np.cos(np.pi / 2 * np.clip(x, 0, 1)) ** 2, 0.0)


def memberships(baselines: NDArray[np.float64], closed: bool = False) -> NDArray[np.float64]:
    """Return how far each view (column) belongs to each of the directions (rows) that views have in common.

    The 8 directions are those of the axes and diagonals.  A view belongs fully to a direction up to half-way to the
    next one, and from there on less and less, so that noise in a baseline never moves it in or out.  If `closed`, the
    directions are the paper's sectors between an axis and a diagonal, and a view on a border belongs to both.  A
    direction is left out if no view belongs to it, or if every view belongs as much to another one.
    """
    angle = np.arctan2(baselines[:, 1], baselines[:, 0]) / (2 * np.pi / DIRECTIONS)
    middle = np.arange(DIRECTIONS)[:, None] + (0.5 if closed else 0.0)
    apart = np.round(np.abs((angle - middle + DIRECTIONS / 2) % DIRECTIONS - DIRECTIONS / 2), 9)
    belongs = np.where(apart <= 0.5, 1.0, 0.0) if closed else fade(2 * apart - 1)
    kept: list[NDArray[np.float64]] = []
    for k, row in enumerate(belongs):
        others = [*kept, *belongs[k + 1 :]]
        if row.any() and not any((row <= other).all() for other in others):
            kept.append(row)
    return np.array(kept)


def nearness(baselines: NDArray[np.float64], closed: bool = False) -> NDArray[np.float64]:
    """Return how far view n (column) counts as no farther out than view t (row): 1 if it is not, 0 beyond RING_GAP.

    If `closed`, it is 0 as soon as n is farther out.
    """
    length = np.hypot(*baselines.T)
    farther = length - length[:, None] - 1e-9
    return np.where(farther <= 0, 1.0, 0.0) if closed else np.asarray(fade(farther / RING_GAP), np.float64)


def floors(baselines: NDArray[np.float64], closed: bool = False) -> NDArray[np.float64]:
    """Return the share of view n's N^2 (column) that N^2 of view t (row) may not fall below.

    A view may not weigh more than a nearer view in the same direction (the monotonicity constraint at the end of
    sec:GCM).  The share is 1 where the paper's sectors are meant to join two views, and fades with the angle between
    them, and with how much farther out n is.  If `closed`, it is 1 for the views that share one of the paper's sectors
    as they are printed, and 0 for all others.
    """
    belongs = memberships(baselines, closed)
    shares = (belongs[:, :, None] * belongs[:, None]).max(axis=0) * nearness(baselines, closed)
    np.fill_diagonal(shares, 1.0)
    return np.asarray(shares, np.float64)
