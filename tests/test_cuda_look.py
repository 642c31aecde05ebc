"""The kernels of the look and of the maps of every view: they do what the host does, in any order of their threads."""

from __future__ import annotations

import numpy as np
import pytest

from engine_cases import needs_compiler
from gradcon.engines.cuda import comparison, surfaces
from gradcon.engines.sweep import Views
from gradcon.methods.every_view.carrying import carried, filled
from gradcon.methods.every_view.evidence import DEVIATIONS, LEAST, MOST, Witness, evidence
from gradcon.methods.every_view.relations import Relation
from gradcon.methods.look import agreement, gains, hidden
from gradcon.methods.look.small_copy import EVERY, matched
from gradcon.methods.sweep.known_map import moved_edges
from gradcon.methods.sweep.noise import edge_factors
from gradcon.methods.sweep.settings import LEAST_EDGE
from simt import EmulatedGpu

pytestmark = [pytest.mark.slow, needs_compiler]
ORDERS = pytest.mark.parametrize("descending", [False, True])
EPIPOLES = np.array([[1.0, 0, 0], [0, 2, 0], [-1.5, 0.5, 0], [0.7, 0.7, 1e-3]])


def some_views(dtype: str = "uint8", shape: tuple[int, int] = (41, 50), gaps: bool = False) -> Views:
    """Return views of a smooth pattern that moves with the epipoles, a little brighter and noisier in each."""
    rng = np.random.default_rng(3)
    y, x = np.indices(shape, dtype=np.float64)
    images = []
    for t, (e_x, e_y, _) in enumerate([(0, 0, 0), *EPIPOLES]):
        u, v = x - 0.3 * e_x, y - 0.3 * e_y
        image = 0.45 + 0.2 * np.sin(u / 3) * np.cos(v / 4) + 0.1 * np.cos((u + v) / 7)
        image = np.stack([image, image[::-1] * 0.9, 0.5 * image + 0.2]) * (1 + 0.05 * t) + 0.01 * t
        images.append(image + rng.normal(0, 0.004, image.shape))
    colours, scale = np.stack(images), 1.0
    known = None
    if dtype != "float32":
        scale = 1 / np.iinfo(dtype).max
        colours = np.rint(colours / scale)
    elif gaps:
        colours[2, :, :, 30:] = np.nan
        known = np.ones(shape, bool)
        known[:5] = False
    return Views(colours.astype(dtype), scale, EPIPOLES, np.array([0, 4], np.int32), np.arange(4), known)


def some_map(shape: tuple[int, int], seed: int = 0) -> np.ndarray:
    y, x = np.indices(shape)
    w = 0.3 + 0.1 * np.sin(x / 9) + (1.5 * ((x > 20) & (y > 12) & (x < 33)))
    return (w + np.random.default_rng(seed).normal(0, 0.02, shape)).astype(np.float32)


CASES = {
    "bytes": some_views(),
    "words": some_views("uint16"),
    "floats": some_views("float32"),
    "gaps": some_views("float32", gaps=True),
    "odd": some_views(shape=(7, 13)),
    "narrow": some_views(shape=(2, 9)),
}


@ORDERS
@pytest.mark.parametrize("name", CASES)
def test_samples_and_fits_are_those_of_the_host(name, descending):
    views, gpu = CASES[name], EmulatedGpu(descending=descending)
    w = some_map(views.shape)
    expected = matched(views, w)
    sample = comparison.matched(views, w, EVERY, gpu)
    for got, want in zip(sample, expected, strict=True):
        np.testing.assert_allclose(got, want, atol=1e-6)
    numbers = comparison.fit_gains(sample, gains.FITS, gains.KEPT, gains.FLAT, gains.LARGEST, gpu)
    np.testing.assert_allclose(numbers, gains._fitted_on_host(expected), rtol=2e-5, atol=2e-6)
    fitted = gains.fitted(expected)
    length = float(np.hypot(*views.shape)) / 4
    found = comparison.fit_motion(
        sample, views, EVERY, fitted.gains, agreement.FITS, agreement.KEPT, agreement.RIDGE, length, gpu
    )
    compared = gains.Compared(None, expected, fitted, False)
    for got, want in zip(found, agreement._moved_on_host(views, compared, length), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=2e-4)


@ORDERS
@pytest.mark.parametrize("name", CASES)
def test_edges_are_those_of_the_host(name, descending):
    views, noise = CASES[name], 0.02 + np.abs(some_map(CASES[name].shape))
    got = comparison.edge_factors(views, noise, 0.05, 0.3, LEAST_EDGE, EmulatedGpu(descending=descending))
    np.testing.assert_allclose(got, edge_factors(views, noise, 0.05, 0.3), rtol=2e-5)


@ORDERS
def test_a_view_that_sees_nothing_tells_nothing(descending):
    views, gpu = CASES["bytes"], EmulatedGpu(descending=descending)
    sample = comparison.matched(views, np.full(views.shape, 1e4, np.float32), EVERY, gpu)
    assert not sample.seen.any()
    numbers = comparison.fit_gains(sample, gains.FITS, gains.KEPT, gains.FLAT, gains.LARGEST, gpu)
    np.testing.assert_array_equal(numbers[:, -2], 0)
    assert np.isfinite(numbers).all()


RELATIONS = {
    "planar": Relation(np.eye(3), np.array([1.3, -0.6, 0.0]), 0.0),
    "turned": Relation(np.array([[1, 0.02, -1], [-0.02, 1, 0.5], [0, 1e-4, 1]]), np.array([1.0, 0.3, 1e-3]), 0.8),
}


@ORDERS
@pytest.mark.parametrize("name", RELATIONS)
def test_maps_are_carried_and_looked_up_as_on_the_host(name, descending):
    gpu, shape = EmulatedGpu(descending=descending), (29, 44)
    relation, w = RELATIONS[name], some_map(shape)
    place = surfaces.Place(*relation)
    got, want = surfaces.carried(w, place, gpu), carried(w, relation)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    np.testing.assert_allclose(got, want, rtol=1e-5)

    rng = np.random.default_rng(1)
    deviation = rng.uniform(0.005, 0.1, shape).astype(np.float32)
    witnesses = [Witness(relation, some_map(shape, seed), deviation[::-1].copy()) for seed in (1, 2, 3)]
    y, x = np.indices(shape, dtype=np.float32)
    want = evidence(x, y, w, deviation, witnesses, 0.5)
    others = [(surfaces.Place(*witness.relation), witness.w, witness.deviation) for witness in witnesses]
    got = surfaces.evidence([x, y, w, deviation], others, DEVIATIONS, MOST * 0.5, LEAST * 0.5, gpu)
    for part, whole in zip(got, want, strict=True):
        np.testing.assert_allclose(part, whole, rtol=1e-5)
    for counts in (want.confirming, want.contradicting, want.hidden):
        assert counts.any()


@ORDERS
def test_holes_and_windows_are_those_of_the_host(descending):
    gpu, w = EmulatedGpu(descending=descending), some_map((31, 47))
    for radius in (1, 5, 60):
        for got, want in zip(surfaces.window_ends(w, radius, gpu), moved_edges(w, radius)[::2], strict=True):
            np.testing.assert_array_equal(got, want)
    w[np.random.default_rng(2).uniform(size=w.shape) < 0.6] = np.nan
    w[:4], w[-1] = np.nan, np.nan
    np.testing.assert_array_equal(surfaces.filled(w, gpu), filled(w))
    np.testing.assert_array_equal(surfaces.filled(np.full_like(w, np.nan), gpu), 0)


@ORDERS
@pytest.mark.parametrize("every", [1, 2])
def test_pixels_behind_surfaces_are_compared_as_on_the_host(every, descending):
    gpu, shape = EmulatedGpu(descending=descending), (37, 48)
    w, rng = some_map(shape), np.random.default_rng(5)
    reference = rng.uniform(0, 1, shape).astype(np.float32)
    targets = rng.uniform(0, 1, (3, *shape)).astype(np.float32)
    baselines = np.array([[3.0, 0.0], [0.0, -2.5], [-2.0, 2.0]])
    want = hidden._compared_on_host(w, reference, targets, baselines, every)
    got = surfaces.behind(w, reference, targets, baselines, every, hidden.HIDDEN_STEP, gpu)
    assert want[:, 1].min() > 10
    np.testing.assert_allclose(got, want, rtol=1e-6)
