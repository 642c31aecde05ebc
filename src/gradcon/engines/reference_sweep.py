"""The plane sweep in float64 on whole images: slow, short, and the judge of the other engines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.engines.device import Device, Host
from gradcon.engines.reference import correlate, sample_cubic
from gradcon.engines.sweep import (
    LEAST_WEIGHT,
    RIDGE,
    ArmCosts,
    Best,
    Map,
    SweepEngine,
    Views,
    Volume,
    blur_kernel,
    view_weights,
)

Field = NDArray[np.float64]
Integers = NDArray[np.int32]
STEPS = (0, 1), (1, 0), (1, 1), (1, -1)  # (dy, dx) from the other pixel of an entry of `edges` to its own


class ReferenceSweep(SweepEngine):
    """The equations of the contract, one after the other."""

    name = "reference"
    device: Device = Host()

    def __init__(self, views: Views) -> None:
        super().__init__(views)
        colours = np.asarray(self.views.colours, np.float64) * views.scale
        self.reference, self.targets = colours[0], colours[1:]

    def for_views(self, views: Views) -> ReferenceSweep:
        return ReferenceSweep(views)

    def difference(self, first: int, labels: int, step: float, every: int) -> Map:
        lowest = np.full(self.reference[0, ::every].shape, np.inf)
        for k in range(first, first + labels):
            differences = np.stack([self.view_difference(t, k * step, every) for t in range(len(self.targets))])
            lowest = np.fmin(lowest, mean_of_known(differences, np.ones(len(differences))))
        return lowest.astype(np.float32)

    def view_difference(self, t: int, w: float, every: int = 1) -> Field:
        """Return |I_t - I_r| at disparity w, averaged over the channels; NaN where the target does not count."""
        _, height, width = self.reference.shape
        y, x = np.mgrid[0:height:every, 0:width].astype(np.float64)
        e_x, e_y, e_z = self.views.epipoles[t]
        z = 1.0 + e_z * w
        if z <= 0:
            return np.full(x.shape, np.nan)
        u, v = (x + e_x * w) / z, (y + e_y * w) / z
        seen = (u >= 0) & (u <= width - 1) & (v >= 0) & (v <= height - 1)
        target = sample_cubic(self.targets[t], np.where(seen, u, 0.0), np.where(seen, v, 0.0))
        difference: Field = np.abs(target - self.reference[:, ::every]).mean(axis=0)
        return np.where(seen, difference, np.nan)

    def costs(self, start: Map, labels: int, step: float, noise: Map, arms: ArmCosts, unit: float) -> Volume:
        whole = np.floor(start).astype(int)
        fraction = start - np.floor(start)
        volume = np.empty((*start.shape, labels), np.uint16)
        before = self.label_costs(whole.min() * step, noise, arms)
        for k in range(whole.min(), whole.max() + labels):
            after = self.label_costs((k + 1) * step, noise, arms)
            blend = (1.0 - fraction) * before + fraction * after
            n = k - whole
            y, x = np.nonzero((n >= 0) & (n < labels))
            volume[y, x, n[y, x]] = np.floor(unit * blend[y, x] + 0.5)
            before = after
        return volume

    def label_costs(self, w: float, noise: Map, arms: ArmCosts) -> Field:
        """Return every pixel's cost at disparity w, from 0 to 1."""
        taps, weights = blur_kernel(arms.blur), view_weights(self.views, arms.near)
        blurred, counts = [], []
        for first, end in zip(self.views.arms[:-1], self.views.arms[1:], strict=True):
            views = np.stack([np.minimum(self.view_difference(t, w) / noise, 1.0) for t in range(first, end)])
            arm = mean_of_known(views, weights[first:end])
            counts.append(np.isfinite(arm))
            blurred.append(correlate(np.where(counts[-1], arm, 1.0), taps))
        c, known = np.stack(blurred), np.stack(counts)
        c_min = np.where(known, c, np.inf).min(axis=0)
        with np.errstate(invalid="ignore"):
            weight = np.where(known, ((c_min + arms.c0) / (c + arms.c0)) ** arms.sharpness, 0.0)
            cost: Field = np.where(known.any(axis=0), (weight * c).sum(axis=0) / weight.sum(axis=0), 1.0)
        return cost

    def aggregate(self, costs: Volume, edges: Any, small: float, large: float) -> Best:
        P1, P2 = (np.float32(penalty) * edges + np.float32(0.5) for penalty in (small, large))
        total = np.zeros(costs.shape, np.int32)
        for (dy, dx), p1, p2 in zip(STEPS, P1, P2, strict=True):
            total += path_costs(costs, p1, p2, dy, dx)
            total += path_costs(costs, p1, p2, -dy, -dx)
        return best_labels(total)

    def fit_planes(self, w: Map, radius: int, stride: int, colour: float, distance: float, disparity: float) -> Map:
        w = np.asarray(w, np.float64)
        sums = np.zeros((9, *w.shape))
        for near in neighbours(w.shape, radius, stride):
            u, v, z = near.dx / radius, near.dy / radius, w[near.there] - w[near.here]
            squares = (self.colour_difference(near) / colour) ** 2 + 0.5 * (z / disparity) ** 2
            g = np.exp(-squares - 0.5 * (near.dx**2 + near.dy**2) / distance**2)
            sums[:, *near.here] += g * np.stack(np.broadcast_arrays(1, u, v, u * u, u * v, v * v, z, z * u, z * v))
        held = sums[0] >= LEAST_WEIGHT
        u, v, uu, uv, vv, z, zu, zv = sums[1:] / np.where(held, sums[0], 1.0)
        uu, uv, vv = uu - u * u + RIDGE, uv - u * v, vv - v * v + RIDGE
        zu, zv = zu - z * u, zv - z * v
        determinant = uu * vv - uv * uv
        slope_u, slope_v = (zu * vv - zv * uv) / determinant, (zv * uu - zu * uv) / determinant
        return np.where(held, w + z - slope_u * u - slope_v * v, w).astype(np.float32)

    def median(self, w: Map, radius: int, colour: float) -> Map:
        window = list(neighbours(w.shape, radius, 1))
        values, weights = np.zeros((2, len(window), *w.shape))
        for i, near in enumerate(window):
            values[i, *near.here] = w[near.there]
            weights[i, *near.here] = np.exp(-((self.colour_difference(near) / colour) ** 2))
        order = values.argsort(axis=0, kind="stable")
        reached = np.take_along_axis(weights, order, axis=0).cumsum(axis=0)
        middle = (reached >= 0.5 * reached[-1]).argmax(axis=0)
        return at(np.take_along_axis(values, order, axis=0), middle, axis=0).astype(np.float32)

    def colour_difference(self, near: Neighbours) -> Field:
        """Return the mean absolute colour difference of neighbours in the reference view."""
        difference: Field = np.abs(self.reference[:, *near.there] - self.reference[:, *near.here]).mean(axis=0)
        return difference


class Neighbours(NamedTuple):
    """The pixels whose neighbour at one offset is inside the frame, and those neighbours."""

    dy: int
    dx: int
    here: tuple[slice, slice]
    there: tuple[slice, slice]


def neighbours(shape: tuple[int, ...], radius: int, stride: int) -> Iterator[Neighbours]:
    """Yield the neighbours at the offsets -radius, -radius + stride, ..., radius along each axis."""
    offsets = range(-radius, radius + 1, stride)
    for dy, dx in product(offsets, offsets):
        if abs(dy) < shape[0] and abs(dx) < shape[1]:
            here = inside(-dy, shape[0]), inside(-dx, shape[1])
            yield Neighbours(dy, dx, here, (inside(dy, shape[0]), inside(dx, shape[1])))


def inside(offset: int, size: int) -> slice:
    """Return the indices from 0 to size - 1 that an offset leads to from within this range."""
    return slice(max(offset, 0), size + min(offset, 0))


def mean_of_known(fields: Field, weights: Field) -> Field:
    """Return the weighted mean of the fields that are not NaN; NaN where there is none."""
    weight = np.where(np.isnan(fields), 0.0, weights[:, None, None])
    with np.errstate(invalid="ignore"):
        mean: Field = (weight * np.nan_to_num(fields)).sum(axis=0) / weight.sum(axis=0)
    return mean


def path_costs(costs: Volume, P1: Map, P2: Map, dy: int, dx: int) -> Integers:
    """Return L along the paths that go by (dy, dx); P1 and P2 are still to be rounded down."""
    if dy == 0:
        return path_costs(costs.swapaxes(0, 1), P1.T, P2.T, dx, 0).swapaxes(0, 1)
    height, width, _ = costs.shape
    L = costs.astype(np.int32)
    for y in range(1, height) if dy > 0 else range(height - 2, -1, -1):
        p, q = (y, inside(dx, width)), (y - dy, inside(-dx, width))
        later = p if dy > 0 else q  # of the two pixels, the one at which their penalty stands
        L[p] += from_before(L[q], *(np.floor(P[later])[:, None].astype(np.int32) for P in (P1, P2)))
    return L


def from_before(L: Integers, P1: Integers, P2: Integers) -> Integers:
    """Return min(L(n), L(n +- 1) + P1, min_i L(i) + P2) - min_i L(i)."""
    lowest = L.min(axis=-1, keepdims=True)
    best = np.minimum(L, lowest + P2)
    best[:, 1:] = np.minimum(best[:, 1:], L[:, :-1] + P1)
    best[:, :-1] = np.minimum(best[:, :-1], L[:, 1:] + P1)
    return best - lowest


def best_labels(total: Integers) -> Best:
    """Return the labels with the lowest sums of all paths."""
    best = total.argmin(axis=-1)
    n = np.arange(total.shape[-1])
    last = len(n) - 1
    lowest = at(total, best)
    left, right = at(total, np.maximum(best - 1, 0)), at(total, np.minimum(best + 1, last))
    curvature = np.where((best > 0) & (best < last), left - 2 * lowest + right, 0)
    fraction = np.where(curvature > 0, 0.5 * (left - right) / np.maximum(curvature, 1), 0.0)
    second = np.where(np.abs(n - best[..., None]) > 2, total, np.inf).min(axis=-1)
    return Best(*(a.astype(np.float32) for a in (best + fraction, lowest, curvature, second)))


def at(array: NDArray[Any], index: NDArray[np.intp], axis: int = -1) -> NDArray[Any]:
    """Return each pixel's entry at its own index along an axis."""
    return np.take_along_axis(array, np.expand_dims(index, axis), axis).squeeze(axis)
