"""The formulas of the paper in plain NumPy and float64, section by section, in its order and with its letters.

This file imports nothing of gradcon and was written from the paper alone, so that an engine which agrees with it agrees
with the paper.  It is slow and short: it loops over views and scales, and works on whole images otherwise.  SciPy only
solves the linear system.  A label in brackets, such as [eqn:exp_noise_pwr], is that of the equation in the paper's
source.

An image is an array [row, column]; s = (s_1, s_2) = (x, y) is a column and a row, and so are the components of vectors.
Views are numbered from 0, in any order; scale q = 0 is the finest.  A field of view t at scale q is `fields[t, q]`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

Array = np.ndarray
ByViewAndScale = dict[tuple[int, int], np.ndarray]


@dataclass(frozen=True)
class Open:
    """The numbers that the paper leaves open, and five choices; their defaults are the paper as printed."""

    sigma_c: float = 2 / 3  # the width of the local variance [eqn:w_std]
    floor: float = float(np.float32(1e-7))  # under the roots of IRLS, since 1 / |x| has a pole
    cut: float = 4.0  # the sampled Gaussians end at the radius int(cut * sigma + 0.5)
    a: float = -0.5  # the parameter of the cubic convolution that samples a warped image
    scale_term: str = "every"  # O at every scale; "coarser": O = 0 at q = 0
    unseen: str = "coupled"  # pixels outside a view keep their coupling; "uncoupled": it is 0 there
    smoothness: str = "anisotropic"  # |w_x| + |w_y|; "isotropic": the length of (w_x, w_y)
    smoothness_weight: str = "whole"  # phi as it is; "half": phi / 2
    widths: str = "equal"  # sigma'_q = sigma_q; "composed": sigma'_q^2 = sigma'_0^2 + sigma_q^2 for q >= 1


AS_PRINTED = Open()


@dataclass(frozen=True)
class View:
    """A target view: its image I_t, its baseline B_t, and M and m if its coupling is not simply B_t."""

    image: Array
    B: tuple[float, float]
    M: Array | None = None
    m: Array | None = None


@dataclass(frozen=True)
class Problem:
    """The reference image I_r, the target views, the noise epsilon, and what was chosen where the paper is open."""

    I_r: Array
    views: Sequence[View]
    epsilon: float = 2e-4
    chosen: Open = AS_PRINTED


@dataclass(frozen=True)
class Stage:
    """The part of a run that uses the same views and scales, the same alpha and the same limit M."""

    views: tuple[int, ...]
    scales: tuple[int, ...]
    alpha: float
    M: float
    weighted: bool  # by the Gradient Consistency Model; W = 1 otherwise
    without: str = ""  # "O" or "G": the ablation in which this term is 0


# ---- Section II, Introduction to Gradient Consistency


def cubic(distance: Array, a: float) -> Array:
    """The kernel of cubic convolution, which is 0 from a distance of 2 on."""
    d = np.abs(distance)
    near = (a + 2) * d**3 - (a + 3) * d**2 + 1
    far = a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0.0))


def sample(image: Array, x: Array, y: Array, a: float = -0.5) -> Array:
    """I_t(s + v_t(s)), the image at positions (x, y), with repeated borders.  [eqn:Generalised_Brightness_Constancy]"""
    height, width = image.shape
    left = np.floor(x).astype(int)
    top = np.floor(y).astype(int)
    out = np.zeros(x.shape)
    for row in (top - 1, top, top + 1, top + 2):
        for column in (left - 1, left, left + 1, left + 2):
            kernel = cubic(y - row, a) * cubic(x - column, a)
            out += kernel * image[np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)]
    return out


# ---- Section III, Scale Consistency


def sigma(q: int) -> float:
    """[eqn:sigma_q_defn]"""
    return 2**q / np.sqrt(2)


def sigma_prime(q: int, widths: str = "equal") -> float:
    """The filter from the original image to scale q; "composed": through scale 0.  [fig:scale_diagram]"""
    if widths == "composed" and q >= 1:
        return np.sqrt(sigma(0) ** 2 + sigma(q) ** 2)
    return sigma(q)


def gaussian(sigma: float, cut: float = 4.0) -> tuple[Array, Array]:
    """Offsets and values of a sampled Gaussian, which is cut off and has the sum 1."""
    radius = int(cut * sigma + 0.5)
    k = np.arange(-radius, radius + 1)
    values = np.exp(-(k**2) / (2 * sigma**2))
    return k, values / values.sum()


def convolve(image: Array, along_x: Array, along_y: Array) -> Array:
    """The convolution with two kernels of one dimension, one after the other; borders are repeated."""
    return convolve_rows(convolve_rows(image, along_x).T, along_y).T


def convolve_rows(image: Array, kernel: Array) -> Array:
    """The convolution of every row."""
    radius = len(kernel) // 2
    width = image.shape[1]
    padded = np.pad(image, ((0, 0), (radius, radius)), mode="edge")
    out = np.zeros(image.shape)
    for offset in range(-radius, radius + 1):
        first = radius - offset
        out += kernel[radius + offset] * padded[:, first : first + width]
    return out


def G(image: Array, sigma: float, cut: float = 4.0) -> Array:
    """G_sigma * image."""
    _, values = gaussian(sigma, cut)
    return convolve(image, values, values)


def G_prime(image: Array, sigma: float, cut: float = 4.0) -> tuple[Array, Array]:
    """G'_{s_1, sigma} * image and G'_{s_2, sigma} * image, with the Derivative of Gaussian operators."""
    k, values = gaussian(sigma, cut)
    derivative = -k / sigma**2 * values
    return convolve(image, derivative, values), convolve(image, values, derivative)


def delta_I(I_t: Array, I_r: Array, sigma_prime: float, cut: float = 4.0) -> Array:
    """delta I_{t,q} of a warped view, the equation above [eqn:nabla_I_defn]."""
    return G(I_t - I_r, sigma_prime, cut)


def nabla_I(I_t: Array, I_r: Array, sigma_prime: float, cut: float = 4.0) -> tuple[Array, Array]:
    """The gradient averaged between a warped view and the reference.  [eqn:nabla_I_defn]"""
    along_x, along_y = G_prime(I_t + I_r, sigma_prime, cut)
    return along_x / 2, along_y / 2


def J_B(g: Array, delta_w: Array, delta_I_q: Array, sigma: float) -> Array:
    """The constraint as it is linearised at scale q; g is g_{t,0}.  [eqn:Filt_BCC_Data]"""
    return G(g, sigma) * delta_w + delta_I_q


def J_A(g: Array, delta_w: Array, delta_I_q: Array, sigma: float) -> Array:
    """The filtered constraint of scale 0, which is consistent with brightness constancy.  [eqn:Filt_BCC]"""
    return G(g * delta_w, sigma) + delta_I_q


# ---- Section IV, Physical Coupling of Displacement Fields; the general case is from the end of Section V


def pixels(shape: tuple[int, int]) -> tuple[Array, Array]:
    """The coordinates s = (x, y) of all pixels."""
    y, x = np.meshgrid(np.arange(shape[0], dtype=float), np.arange(shape[1], dtype=float), indexing="ij")
    return x, y


def position(view: View, w: Array) -> tuple[Array, Array, Array]:
    """s + v_t(s) as x and y, and whether the point is in front of the camera.  [eqn:Displacement_Disparity_relation]

    Where a view has M and m, the position is M (x, y, 1) + m w, divided by its third component.
    """
    x, y = pixels(w.shape)
    if view.M is None or view.m is None:
        return x + view.B[0] * w, y + view.B[1] * w, np.ones(w.shape, bool)
    M, m = view.M, view.m
    X, Y, depth = (M[i, 0] * x + M[i, 1] * y + M[i, 2] + m[i] * w for i in range(3))
    return X / depth, Y / depth, depth > 0


def coupling(view: View, w: Array) -> tuple[Array, Array]:
    """c_t of delta v_t = c_t delta w, on the pixels of the reference.  [eqn:Displacement_Disparity_relation]

    In a view with M and m the point s is at s_t = (x_t, y_t), and delta w moves it by (ds_t / dw) delta w.  A warped
    view has the coordinates of the reference, so this is c_t delta w there, with c_t = (ds_t / ds)^-1 (ds_t / dw).  If
    depth is the third component of M (x, y, 1) + m w, then depth dx_t / dx = M_11 - x_t M_31, depth dx_t / dw =
    m_1 - x_t m_3, and so on; depth cancels.  (d_{t,q} is 0.)
    """
    if view.M is None or view.m is None:
        return np.full(w.shape, view.B[0]), np.full(w.shape, view.B[1])
    M, m = view.M, view.m
    x_t, y_t, _ = position(view, w)
    x_1, x_2, x_w = M[0, 0] - x_t * M[2, 0], M[0, 1] - x_t * M[2, 1], m[0] - x_t * m[2]
    y_1, y_2, y_w = M[1, 0] - y_t * M[2, 0], M[1, 1] - y_t * M[2, 1], m[1] - y_t * m[2]
    determinant = x_1 * y_2 - x_2 * y_1
    return (y_2 * x_w - x_2 * y_w) / determinant, (x_1 * y_w - y_1 * x_w) / determinant


def project(vector: tuple[Array, Array], c: tuple[Array, Array]) -> Array:
    """<vector, c_t>: g_{t,q} if the vector is nabla I_{t,q} and c_t is B_t.  [eqn:grad_defn]"""
    return vector[0] * c[0] + vector[1] * c[1]


def warp(problem: Problem, view: View, w: Array) -> tuple[Array, tuple[Array, Array]]:
    """The warped view and its coupling c_t.  Where it does not see a pixel, the reference is copied (Section VII)."""
    x, y, in_front = position(view, w)
    height, width = problem.I_r.shape
    seen = in_front & (x >= 0) & (x <= width - 1) & (y >= 0) & (y <= height - 1)
    warped = np.where(seen, sample(view.image, x, y, problem.chosen.a), problem.I_r)
    c_x, c_y = coupling(view, w)
    if problem.chosen.unseen == "uncoupled":
        c_x, c_y = np.where(seen, c_x, 0.0), np.where(seen, c_y, 0.0)
    return warped, (c_x, c_y)


# ---- Section V, Gradient Consistency Model


@dataclass(frozen=True)
class Fields:
    """delta I_{t,q}, g_{t,q} and the gradient difference, for some views and scales, q = 0 among them."""

    dI: ByViewAndScale
    g: ByViewAndScale
    gradient_difference: ByViewAndScale


def fields(problem: Problem, w: Array, stage: Stage) -> Fields:
    """All fields of a stage: the views are warped by w first."""
    out = Fields({}, {}, {})
    cut = problem.chosen.cut
    for t in stage.views:
        warped, c = warp(problem, problem.views[t], w)
        for q in {*stage.scales, 0}:
            width = sigma_prime(q, problem.chosen.widths)
            out.dI[t, q] = delta_I(warped, problem.I_r, width, cut)
            out.g[t, q] = project(nabla_I(warped, problem.I_r, width, cut), c)
            out.gradient_difference[t, q] = gradient_difference(warped, problem.I_r, c, width, cut)
    return out


def data_term_estimate(W: Array, g: Array, dI: Array) -> Array:
    """delta w' of one pixel or many: the first axis goes over t and q.  [eqn:Data_Term_estimate]"""
    return -(W * g * dI).sum(axis=0) / (W * g**2).sum(axis=0)


def noisy_solution(W: Array, g: Array, dI: Array, noise: Array) -> Array:
    """delta w* of data that noise is added to.  [eqn:Noisy_solution]"""
    return data_term_estimate(W, g, dI) - (W * g * noise).sum(axis=0) / (W * g**2).sum(axis=0)


def acquisition_noise(epsilon: float, q: int) -> float:
    """The last term of [eqn:exp_noise_pwr], which is derived in Appendix C."""
    return epsilon**2 / (4 * np.pi * sigma(q) ** 2)


def gradient_difference(I_t: Array, I_r: Array, c: tuple[Array, Array], sigma: float, cut: float = 4.0) -> Array:
    """The curly G of a warped view.  [eqn:Grad_diff]

    The paper prints sigma_q here and sigma'_q in [eqn:nabla_I_defn].  Both are read as the filter that makes scale q,
    since this is the difference of the gradients there.
    """
    along_x, along_y = G_prime(I_t - I_r, sigma, cut)
    return project((along_x, along_y), c) / 2


def variance(x: Array, sigma_c: float = 2 / 3, cut: float = 4.0) -> Array:
    """[eqn:w_std]"""
    return G(x**2, sigma_c, cut) - G(x, sigma_c, cut) ** 2


def delta_w_e2(f: Fields, w: Array, q: int, stage: Stage, epsilon: float, chosen: Open) -> Array:
    """The bound of the squared error of w, at scale q.  [eqn:Delta_w_defn]

    w_prev is the map before this solve, and the sums go over all views and scales of the stage.
    """
    sum_dI2 = np.zeros(w.shape)
    sum_g2 = np.zeros(w.shape)
    for t in stage.views:
        for scale in stage.scales:
            sum_dI2 += f.dI[t, scale] ** 2
            sum_g2 += f.g[t, scale] ** 2
    from_data = (acquisition_noise(epsilon, q) + sum_dI2) / (sum_g2 + epsilon)
    return from_data + variance(w, chosen.sigma_c, chosen.cut)


def delta_w_tilde(f: Fields, stage: Stage, epsilon: float) -> Array:
    """The size of the residual disparity, from the data of scale 0.  [eqn:tilde_dw]"""
    sum_dI = np.sum([np.abs(f.dI[t, 0]) for t in stage.views], axis=0)
    sum_g = np.sum([np.abs(f.g[t, 0]) for t in stage.views], axis=0)
    return sum_dI / (sum_g + epsilon)


def scale_inconsistency2(g_0: Array, delta_w_tilde: Array, sigma: float, cut: float = 4.0) -> Array:
    """The curly O, squared.  [eqn:SpatialInconsistency_U]"""
    return G(g_0**2, sigma, cut) * G(delta_w_tilde**2, sigma, cut)


def noise_powers(f: Fields, w: Array, stage: Stage, epsilon: float, chosen: Open) -> ByViewAndScale:
    """N^2_{t,q}, or what an ablation leaves of it.  [eqn:exp_noise_pwr]"""
    residual = delta_w_tilde(f, stage, epsilon)
    N2: ByViewAndScale = {}
    for q in stage.scales:
        error2 = delta_w_e2(f, w, q, stage, epsilon, chosen)
        for t in stage.views:
            N2[t, q] = np.full(w.shape, acquisition_noise(epsilon, q))
            if stage.without != "G":
                N2[t, q] += f.gradient_difference[t, q] ** 2 * error2
            if stage.without != "O" and (q > 0 or chosen.scale_term == "every"):
                N2[t, q] += scale_inconsistency2(f.g[t, 0], residual, sigma(q), chosen.cut)
    return N2


def sectors(B: tuple[float, float]) -> set[int]:
    """The sectors S_k that hold B_t, k pi/4 <= angle <= (k + 1) pi/4: two of them if B_t is on a border."""
    tolerance = 1e-9
    angle = np.arctan2(B[1], B[0]) / (np.pi / 4)  # in sectors, -4 to 4
    holding = set()
    for k in range(8):
        for turned in (angle, angle + 8):
            if k - tolerance <= turned <= k + 1 + tolerance:
                holding.add(k)
    return holding


def not_beyond(t: int, stage: Stage, views: Sequence[View]) -> list[int]:
    """The views n of a stage in a sector of view t with |B_n| <= |B_t|, t among them."""
    furthest = np.hypot(*views[t].B) * (1 + 1e-9)
    return [n for n in stage.views if np.hypot(*views[n].B) <= furthest and sectors(views[n].B) & sectors(views[t].B)]


def monotone_weights(N2: ByViewAndScale, stage: Stage, views: Sequence[View], Z: float | Array = 1.0) -> ByViewAndScale:
    """W_{t,q} = Z / N^2, or a smaller weight of a view that is not beyond t.  [eqn:Weights_Proportional] and below"""
    W: ByViewAndScale = {}
    for t in stage.views:
        for q in stage.scales:
            W[t, q] = np.min([Z / N2[n, q] for n in not_beyond(t, stage, views)], axis=0)
    return W


def weights(f: Fields, problem: Problem, w: Array, stage: Stage) -> ByViewAndScale:
    """W_{t,q} of a stage: 1, or of the Gradient Consistency Model with the Z that makes their mean 1 at every pixel."""
    if not stage.weighted:
        return {(t, q): np.ones(w.shape) for t in stage.views for q in stage.scales}
    N2 = noise_powers(f, w, stage, problem.epsilon, problem.chosen)
    proportional = monotone_weights(N2, stage, problem.views)
    Z = len(proportional) / np.sum(list(proportional.values()), axis=0)
    return monotone_weights(N2, stage, problem.views, Z)


# ---- Section VI, Variational Disparity Estimation
#
# IRLS replaces psi(x) = |x| by x^2 / |x_prev|.  A solve minimises the sum over all pixels of
#     sum_{t,q} W R (g dw + dI)^2 + alpha (phi_x (w + dw)_x^2 + phi_y (w + dw)_y^2),
# so that, with L for the operator -(d/dx phi_x d/dx + d/dy phi_y d/dy),
#     (sum_{t,q} W R g^2 + alpha L) dw = -sum_{t,q} W R g dI - alpha L w.
# A start that is no estimate says nothing about |x_prev|: the first solve has R = 1 and phi = 1.


def R(dI: Array, floor: float) -> Array:
    """The weight of IRLS for the L1 norm of the data term.  [eqn:Linear_Data_term]"""
    return 1 / np.sqrt(dI**2 + floor)


def data_term(f: Fields, W: ByViewAndScale, reweight: bool, floor: float) -> tuple[Array, Array]:
    """sum W R g^2 and -sum W R g delta I, which the Euler-Lagrange equation of [eqn:Linear_Data_term] has."""
    diagonal: Array = np.zeros(())
    rhs: Array = np.zeros(())
    for key, weight in W.items():
        g, dI = f.g[key], f.dI[key]
        WR = weight * (R(dI, floor) if reweight else 1.0)
        diagonal = diagonal + WR * g**2
        rhs = rhs - WR * g * dI
    return diagonal, rhs


def phi(w: Array, chosen: Open) -> tuple[Array, Array]:
    """The weights phi_x and phi_y of IRLS for the L1 norm of the gradient, |w_x| + |w_y|.  [eqn:RegTerm]"""
    p = np.pad(w, 1, mode="edge")
    w_x = (p[1:-1, 2:] - p[1:-1, :-2]) / 2
    w_y = (p[2:, 1:-1] - p[:-2, 1:-1]) / 2
    if chosen.smoothness == "isotropic":
        phi_x = phi_y = 1 / np.sqrt(w_x**2 + w_y**2 + chosen.floor)
    else:
        phi_x = 1 / np.sqrt(w_x**2 + chosen.floor)
        phi_y = 1 / np.sqrt(w_y**2 + chosen.floor)
    factor = 0.5 if chosen.smoothness_weight == "half" else 1.0
    return factor * phi_x, factor * phi_y


def smoothness(phi_x: Array, phi_y: Array) -> sparse.csc_array:
    """The matrix L; the link between two neighbours has the mean of their phi."""
    number = np.arange(phi_x.size).reshape(phi_x.shape)
    along_x = number[:, :-1], number[:, 1:], (phi_x[:, :-1] + phi_x[:, 1:]) / 2
    along_y = number[:-1, :], number[1:, :], (phi_y[:-1, :] + phi_y[1:, :]) / 2
    L = sparse.csc_array((phi_x.size, phi_x.size))
    for links in (along_x, along_y):
        first, second, link = (part.ravel() for part in links)
        for row, column, value in (
            (first, first, link),
            (second, second, link),
            (first, second, -link),
            (second, first, -link),
        ):
            L = L + sparse.csc_array((value, (row, column)), shape=L.shape)
    return L


def solve(diagonal: Array, rhs: Array, w: Array, alpha: float, reweight: bool, chosen: Open) -> Array:
    """delta w, by one direct solve of A x = b.  [eqn:Gen_optimization]"""
    L = smoothness(*phi(w, chosen)) if reweight else smoothness(np.ones(w.shape), np.ones(w.shape))
    A = sparse.diags_array(diagonal.ravel()) + alpha * L
    b = rhs.ravel() - alpha * (L @ w.ravel())
    return spsolve(A.tocsc(), b).reshape(w.shape)


# ---- Section VII, Single Scale Results, and Section VIII, Multi-Scale Results


def normalised(B: Array) -> Array:
    """Baselines with |B_t| = 1 for the nearest view."""
    return B / np.hypot(B[:, 0], B[:, 1]).min()


def limit(lengths: Array, scales: Sequence[int]) -> float:
    """M, of the furthest view in use and the coarsest scale in use.  [eqn:Limit_Scheme], [eqn:Limit_scheme_multi]"""
    return 2 ** max(scales) / np.max(lengths)


def median(w: Array) -> Array:
    """The 5x5 median filter; borders are mirrored, the outermost pixel included."""
    p = np.pad(w, 2, mode="symmetric")
    height, width = w.shape
    shifted = [p[i : i + height, j : j + width] for i in range(5) for j in range(5)]
    return np.median(shifted, axis=0)


def update(w: Array, delta_w: Array, M: float) -> tuple[Array, int]:
    """The map after a solve, |delta w| clipped to M, and the number of pixels that met the limit."""
    met = int((np.abs(delta_w) > M).sum())
    return median(w + np.clip(delta_w, -M, M)), met


def step(problem: Problem, w: Array, stage: Stage, reweight: bool = True) -> tuple[Array, int]:
    """Warp, weight, solve, limit and filter once; return the new map and how many pixels met the limit."""
    f = fields(problem, w, stage)
    W = weights(f, problem, w, stage)
    diagonal, rhs = data_term(f, W, reweight, problem.chosen.floor)
    delta_w = solve(diagonal, rhs, w, stage.alpha, reweight, problem.chosen)
    return update(w, delta_w, stage.M)


def rings(lengths: Array) -> list[tuple[int, ...]]:
    """The views of each stage of progressive inclusion: one more ring of views that are equally far.

    These are 4 more each time in the paper's cross, whose first stage has 5 views with the reference.
    """
    nearest_first = np.sort(lengths)
    pairs = itertools.pairwise([*nearest_first, np.inf])
    ends = [length * (1 + 1e-9) for length, following in pairs if following > length * (1 + 1e-9)]
    return [tuple(int(t) for t in np.flatnonzero(lengths <= end)) for end in ends]


def stages(method: str, B: Array, alpha: float, scales: int = 1, without: str = "") -> list[Stage]:
    """The stages of a method: "naive", "gcm", "coarse-to-fine" or "progressive".  B is normalised.

    naive and gcm use all views and scales at once; of more than three scales, gcm has a window of three at a time.
    """
    lengths = np.hypot(B[:, 0], B[:, 1])
    everything = tuple(range(len(B)))
    all_scales = tuple(range(scales))
    if method == "progressive":
        parts = [(views, all_scales) for views in rings(lengths)]
    elif method == "coarse-to-fine":
        parts = [(everything, (q,)) for q in reversed(all_scales)]
    elif method == "gcm":
        finest = range(max(scales - 3, 0), -1, -1)
        parts = [(everything, all_scales[q : q + 3]) for q in finest]
    elif method == "naive":
        parts = [(everything, all_scales)]
    else:
        raise ValueError(method)
    weighted = method == "gcm"
    return [Stage(views, q, alpha, limit(lengths[list(views)], q), weighted, without) for views, q in parts]


def run(problem: Problem, plan: Sequence[Stage], solves: int, start: float = 0.0) -> list[Array]:
    """The maps after each of the first solves.  A stage ends after a solve in which no pixel met the limit."""
    w = np.full(problem.I_r.shape, start)
    maps: list[Array] = []
    current = 0
    while len(maps) < solves:
        w, met = step(problem, w, plan[current], reweight=len(maps) > 0)
        maps.append(w)
        if met == 0:
            current = min(current + 1, len(plan) - 1)
    return maps


# ---- Appendix A, Derivation of Noise Minimisation Weights


def expected_error(W: Array, g: Array, N2: Array) -> float:
    """E[(delta w' - delta w*)^2] of one pixel, for noise of power N2 that is independent.  [eqn:expected_error]"""
    return (W**2 * g**2 * N2).sum() / (W * g**2).sum() ** 2


def expected_error_derivative(W: Array, g: Array, N2: Array) -> Array:
    """dE / dW_{k,l}, which is dL / dW_{k,l} with lambda = 0."""
    S2 = (W**2 * g**2 * N2).sum()
    S = (W * g**2).sum()
    return -2 * g**2 * S2 / S**3 + 2 * W * g**2 * N2 * S / S**3


def X(W: Array, g: Array) -> Array:
    """X_{k,l} below [eqn:Lagrange_Multiplier_Result]."""
    return (W * g**2).sum() ** 2 / (2 * g**2)


def Y(W: Array, g: Array, N2: Array) -> float:
    """Y below [eqn:Lagrange_Multiplier_Result]."""
    return (W**2 * g**2 * N2).sum() / (W * g**2).sum()


def multiplier(W: Array, g: Array, N2: Array, K: float) -> float:
    """lambda.  [eqn:lambda_value]"""
    return (K - (Y(W, g, N2) / N2).sum()) / (X(W, g) / N2).sum()


def lagrange_weights(W: Array, g: Array, N2: Array, K: float) -> Array:
    """The right side of the last equation for W_{k,l}; the best weights are its fixed points."""
    return (Y(W, g, N2) + multiplier(W, g, N2, K) * X(W, g)) / N2


# ---- Appendix B, Derivation of Scale Inconsistency


def J_A_prime(g: Array, gamma: float, sigma: float) -> Array:
    """gamma J'_A, with delta w = gamma g.

    The paper's equality for (J'_A)^2 holds for the square of this product.  [eq:spatial_grad_consistency_special_case]
    """
    return gamma * G(g**2, sigma)


def J_B_prime(g: Array, gamma: float, sigma: float) -> Array:
    """gamma J'_B, with delta w = gamma g."""
    return gamma * g * G(g, sigma)


# ---- Appendix C, Derivation of Image Acquisition Noise Term


def noise_integral(epsilon: float, sigma: float, samples: int = 4001) -> float:
    """epsilon^2 / (4 pi^2) times the square of the integral of exp(-sigma^2 omega^2), by a sum.

    The sum is exact to rounding: its error decreases faster than any power of the step, and exp(-100) is negligible.
    """
    step = 20 / (sigma * (samples - 1))
    omega = step * (np.arange(samples) - samples // 2)
    integral = np.exp(-(sigma**2) * omega**2).sum() * step
    return epsilon**2 / (4 * np.pi**2) * integral**2
