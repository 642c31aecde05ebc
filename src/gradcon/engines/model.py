"""The Gradient Consistency Model's equations, one small function each, in the paper's letters.

The functions take scalars or arrays: the `reference` engine calls them on whole images, the `cpu` engine compiles
them into its loops.  t counts target views, q scales; a field without arguments is taken at one pixel s.

    I_r, I_t    reference image, target image warped by the current disparity w
    g           directional derivative along the coupling c_t, averaged between I_r and I_t     (g_{t,q})
    dI          I_t - I_r at scale q                                                             (delta I_{t,q})
    G, O2, N2   gradient inconsistency, squared scale inconsistency, expected squared noise
    W, R        weights of the model, weights of the iteratively reweighted least squares
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

SIGMA_C = 2.0 / 3.0  # of the local variance of w
IRLS_FLOOR = np.float32(1e-7)  # keeps both L1 norms differentiable at 0
TRUNCATE = 4.0  # Gaussians are cut at so many sigma
MEDIAN_SIZE = 5
UNCERTAINTY_SIGMA = 2.5  # pixels; how sure one can be is a matter of the neighbourhood, not of a pixel
SECTORS = 8

# In float32 so that compiled float32 code stays in float32; float64 code loses nothing, they are exact.
ZERO, HALF, ONE, THREE, FOUR, FIVE = (np.float32(value) for value in (0, 0.5, 1, 3, 4, 5))

# mypy: disable-error-code="no-untyped-def"


def sigma(q: int) -> float:
    """sigma_q = 2^q / sqrt(2): the standard deviation of scale q's filters, in pixels."""
    return float(2**q / math.sqrt(2.0))


def gaussian(s: float) -> NDArray[np.float64]:
    """Taps of the sampled Gaussian G_s from -radius to radius; they sum to 1."""
    radius = int(TRUNCATE * s + 0.5)
    k = np.arange(-radius, radius + 1)
    taps = np.exp(-0.5 * (k / s) ** 2)
    return taps / taps.sum()


def gaussian_derivative(s: float) -> NDArray[np.float64]:
    """Taps, in correlation order, of the derivative of the sampled Gaussian: positive on a rising ramp."""
    taps = gaussian(s)
    k = np.arange(len(taps)) - len(taps) // 2
    return k / s**2 * taps


def cubic(f):
    """Cubic convolution (a = -1/2): the four taps at offsets -1, 0, 1, 2 for a position f in [0, 1) past a sample.

    With this a, and no other, straight ramps are reproduced, so a shift is not misread as a larger one.
    """
    h = HALF * f
    e = ONE - f
    return (-h * e * e, ONE - h * f * (FIVE - THREE * f), h * (ONE + f * (FOUR - THREE * f)), -h * f * e)


def along(cx, cy, dx, dy):
    """<grad I, c_t>: only the derivative along the coupling matters."""
    return cx * dx + cy * dy


def mean_gradient(d_t, d_r):
    """g_{t,q}: the directional derivative averaged between the warped target and the reference."""
    return HALF * (d_t + d_r)


def gradient_inconsistency(d_t, d_r):
    """G_{t,q}: half the difference of the two directional derivatives."""
    return HALF * (d_t - d_r)


def residual_disparity(sum_abs_dI, sum_abs_g, epsilon):
    """The pointwise guess of the residual disparity, from all views at scale 0 (the paper's delta w with a tilde)."""
    return sum_abs_dI / (sum_abs_g + epsilon)


def scale_inconsistency(blurred_g2, blurred_dw2):
    """O^2_{t,q}, from G_{sigma_q} * g_{t,0}^2 and G_{sigma_q} * (residual disparity)^2."""
    return blurred_g2 * blurred_dw2


def acquisition_noise(epsilon, s):
    """Power of white acquisition noise that is left after the Gaussian of scale s."""
    return epsilon * epsilon / (4.0 * math.pi * s * s)


def local_variance(blurred_w2, blurred_w):
    """var_{sigma_c}(w), from G_{sigma_c} * w^2 and G_{sigma_c} * w; rounding may not push it below 0."""
    return np.maximum(blurred_w2 - blurred_w * blurred_w, ZERO)


def disparity_error(noise, sum_dI2, sum_g2, epsilon, variance):
    """delta w^2_{q,e}: the bound on the squared error of w, from the data and from the smoothness of w."""
    return (noise + sum_dI2) / (sum_g2 + epsilon) + variance


def noise_power(G, dw2_e, O2, noise):
    """N^2_{t,q}: gradient inconsistency times disparity error, scale inconsistency, acquisition noise."""
    return G * G * dw2_e + O2 + noise


def data_reweight(dI):
    """R_{t,q}: the IRLS weight that turns the squared data term into L1, at dw = 0."""
    return ONE / np.sqrt(dI * dI + IRLS_FLOOR)


def smoothness_reweight(wx, wy):
    """phi: the IRLS weight that turns the squared gradient of w into total variation."""
    return HALF / np.sqrt(wx * wx + wy * wy + IRLS_FLOOR)


def link(phi_i, phi_j):
    """Strength of the link between two neighbouring pixels in the smoothness operator L."""
    return HALF * (phi_i + phi_j)


def information(g, N2):
    """What one view and scale tells of the disparity; 1 / sum is the expected squared error at the best weights."""
    return g * g / N2


def data_deviation(total_information, prior):
    """What the data term leaves uncertain, a standard deviation; `prior` is that where the data says nothing."""
    return ONE / np.sqrt(total_information + ONE / (prior * prior))


def deviation(data, variance):
    """Predicted standard deviation of the disparity, from that of the data term and from var_{sigma_c}(w).

    As in the paper's bound on the error of w: beside a jump of w, a pixel may belong to the other side.
    """
    return np.sqrt(data * data + variance)


def prior_deviation(lowest: float, highest: float) -> float:
    """Where the data says nothing, the disparity may be anything that the scene holds, or a pixel off."""
    return max(float(highest) - float(lowest), 1.0)


def step_limit(q_max: int, longest_baseline: float) -> float:
    """M = 2^q_max / |B_max|: the largest change of w that one solve may make, in pixels per unit baseline."""
    return float(2.0**q_max / longest_baseline)


def sector_groups(baselines: NDArray[np.float64]) -> list[list[int]]:
    """The views of each of the 8 sectors of the baseline plane, closed at both ends, nearest first.

    The weight of a view may not pass that of a nearer view in a sector they share.  Sectors whose views all lie in
    another one are left out: the larger one already says what they say.
    """
    angle = np.arctan2(baselines[:, 1], baselines[:, 0]) / (2 * np.pi / SECTORS)
    members = []
    for k in range(SECTORS):
        offset = (angle - k) % SECTORS
        inside = (offset <= 1 + 1e-6) | (offset >= SECTORS - 1e-6)
        members.append(frozenset(np.flatnonzero(inside).tolist()))
    length = np.hypot(*baselines.T)
    kept = {group for group in members if group and not any(group < other for other in members)}
    return sorted(sorted(group, key=lambda t: (length[t], t)) for group in kept)
