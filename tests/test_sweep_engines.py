"""Every sweep engine computes what its contract says: by the reference engine, and by small examples."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import ndimage

from gradcon.engines.reference_sweep import ReferenceSweep
from gradcon.engines.sweep import ArmCosts, Best, Views, blur_kernel, view_weights
from gradcon.engines.sweep_views import shrunk
from sweep_cases import (
    CASES,
    CROSS,
    ENGINES,
    PAIRS,
    Matching,
    around,
    ask,
    blank_views,
    compiled,
    every_case,
    every_engine,
    every_matching,
    flat_views,
    random_matching,
    stepped_map,
)

SMOOTH = ArmCosts(near=0.0, blur=0.7, c0=0.2, sharpness=2)


@every_case
@compiled
def test_costs_agree(name, case):
    expected, got = case.costs(ReferenceSweep), case.costs(ENGINES[name])
    assert got.dtype == np.uint16
    assert np.abs(got.astype(int) - expected).max() <= 1


@every_case
@every_engine
def test_costs_are_at_most_the_unit(name, case):
    costs = case.costs(ENGINES[name])
    assert costs.shape == (*case.shape, case.labels)
    assert costs.max() <= case.unit


@pytest.mark.parametrize("every", [1, 8])
@every_case
@compiled
def test_the_smallest_difference_agrees(name, case, every):
    first = int(np.min(case.start))
    labels = min(case.labels, 30)
    expected, got = (ask(make(case.views), "difference", first, labels, case.step, every)
                     for make in (ReferenceSweep, ENGINES[name]))  # fmt: skip
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-6)


@every_matching
@compiled
def test_matching_agrees_exactly(name, matching):
    found, wanted = matching.best(ENGINES[name]), matching.best(ReferenceSweep)
    for got, expected, what in zip(found, wanted, Best._fields, strict=True):
        assert got.dtype == np.float32
        np.testing.assert_allclose(got, expected, rtol=1e-6 if what == "label" else 0, err_msg=what)


@pytest.mark.parametrize(("radius", "stride"), [(2, 1), (3, 2), (16, 4), (14, 1)])
@pytest.mark.parametrize("key", ["cross", "grid of grey views", "line", "one row", "one column"])
@compiled
def test_planes_agree(name, key, radius, stride):
    case = CASES[key]
    for disparity in (0.5, 0.06):
        arguments = stepped_map(case.shape), radius, stride, 0.15, 0.8 * radius, disparity
        expected, got = (ask(make(case.views), "fit_planes", *arguments) for make in (ReferenceSweep, ENGINES[name]))
        assert got == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("radius", [0, 1, 2, 3])
@pytest.mark.parametrize("key", ["cross", "grid of grey views", "line", "one row", "one column", "constant"])
@compiled
def test_medians_agree(name, key, radius):
    """Where two values share the middle almost equally, rounding may pick either of them."""
    case = CASES[key]
    expected, got = (ask(make(case.views), "median", stepped_map(case.shape), radius, 0.07)
                     for make in (ReferenceSweep, ENGINES[name]))  # fmt: skip
    assert np.mean(got != expected) <= 0.001
    assert np.abs(got - expected).max() < 0.3


def shifted_views(shift: int, garbage: tuple[int, ...] = ()) -> Views:
    """Return a cross of white noise that agrees at the disparity `shift`, but for the arms of garbage."""
    rng = np.random.default_rng(5)
    reference = rng.integers(0, 256, (3, 40, 50), np.uint8)
    targets = [np.roll(reference, (shift * dy, shift * dx), (1, 2)) for dx, dy in CROSS]
    for arm in garbage:
        for t in range(PAIRS[arm], PAIRS[arm + 1]):
            targets[t] = rng.integers(0, 256, reference.shape, np.uint8)
    epipoles = np.array([(dx, dy, 0.0) for dx, dy in CROSS])
    return Views(np.stack([reference, *targets]), 1 / 255, epipoles, np.array(PAIRS, np.int32))


INNER = np.s_[8:-8, 8:-8]  # seen by all views at the labels used, and beyond the blur of what they do not see


@every_engine
def test_a_known_shift_costs_nothing(name):
    engine = ENGINES[name](shifted_views(2))
    start, noise = np.full((40, 50), -1, np.float32), np.full((40, 50), 0.05, np.float32)
    costs = ask(engine, "costs", start, 6, 1.0, noise, SMOOTH, 512.0)[INNER]
    assert (costs[..., 3] == 0).all()
    assert np.delete(costs, 3, axis=-1).min() > 256
    assert (ask(engine, "difference", -1, 6, 1.0, 3)[3:-3, 8:-8] == 0).all()


@every_engine
def test_a_band_between_labels_blends_its_two_neighbours(name):
    case = CASES["cross"]
    engine = ENGINES[name](case.views)
    noise = np.full(case.shape, 0.1, np.float32)
    whole, between = (
        ask(engine, "costs", np.full(case.shape, start, np.float32), labels, 0.23, noise, SMOOTH, 512.0).astype(float)
        for start, labels in ((-3, 9), (-2.75, 8))
    )
    assert np.abs(0.75 * whole[..., :-1] + 0.25 * whole[..., 1:] - between).max() <= 1


@every_engine
def test_each_pixel_has_its_own_band(name):
    case = CASES["cross"]
    engine, noise = ENGINES[name](case.views), np.full(case.shape, 0.1, np.float32)
    start = np.floor(around(case.shape, 0, 9))
    every = ask(engine, "costs", np.full(case.shape, -10, np.float32), 30, 0.23, noise, SMOOTH, 512.0)
    own = ask(engine, "costs", start, 6, 0.23, noise, SMOOTH, 512.0)
    index = (start + 10).astype(int)[..., None] + np.arange(6)
    np.testing.assert_array_equal(own, np.take_along_axis(every, index, axis=-1))


@pytest.mark.parametrize("arm", range(4))
@every_engine
def test_an_arm_that_is_hidden_hardly_counts(name, arm):
    """Of four arms, one sees an obstacle, which would cost a quarter in their mean."""
    start, noise = np.full((40, 50), 2, np.float32), np.full((40, 50), 0.05, np.float32)
    costs = ask(ENGINES[name](shifted_views(2, (arm,))), "costs", start, 1, 1.0, noise, SMOOTH, 512.0)[INNER]
    assert costs.max() < 0.02 * 512
    plain = ArmCosts(near=0.0, blur=0.7, c0=1e6, sharpness=1)
    mean = ask(ENGINES[name](shifted_views(2, (arm,))), "costs", start, 1, 1.0, noise, plain, 512.0)[INNER]
    assert mean.mean() == pytest.approx(0.25 * 512, rel=0.1)


@every_engine
def test_nothing_that_is_seen_costs_one(name):
    case = CASES["out of the frame"]
    assert (case.costs(ENGINES[name]) == case.unit).all()
    assert (ask(ENGINES[name](case.views), "difference", 400, 3, 0.23, 4) == np.inf).all()


@every_engine
def test_near_views_count_more(name):
    """The nearer view of an arm agrees and the other does not; their weights are 1 and 2^-near."""
    images = np.zeros((3, 1, 20, 30), np.float32)
    images[2] = 1.0
    views = Views(images, 1.0, np.array([[1.0, 0, 0], [2.0, 0, 0]]), np.array([0, 2], np.int32))
    start, noise = np.zeros((20, 30), np.float32), np.full((20, 30), 0.5, np.float32)
    for near in (0.0, 1.5):
        costs = ask(ENGINES[name](views), "costs", start, 1, 1.0, noise, ArmCosts(near, 0.7, 0.2, 1), 1000.0)
        assert costs == pytest.approx(np.full((20, 30, 1), 1000 * 2**-near / (1 + 2**-near)), abs=1)


def change(matching: Matching, p: tuple[int, int], q: tuple[int, int], labels: int) -> int:
    """Return what a change by some labels between two neighbours costs."""
    earlier, later = sorted((p, q))
    kind = [(0, 1), (1, 0), (1, 1), (1, -1)].index((later[0] - earlier[0], later[1] - earlier[1]))
    penalty = [0.0, matching.small, matching.large][min(labels, 2)]
    return int(np.float32(penalty) * matching.edges[kind, *later] + np.float32(0.5))


def lowest_energies(matching: Matching, path: list[tuple[int, int]]) -> np.ndarray:
    """Return the energy of the best labelling of a path for each label of its first pixel, by trying all."""
    lowest = np.full(matching.costs.shape[2], 10**9)
    for choice in product(range(len(lowest)), repeat=len(path)):
        energy = sum(int(matching.costs[*p, n]) for p, n in zip(path, choice, strict=True))
        for p, q, n, m in zip(path[:-1], path[1:], choice[:-1], choice[1:], strict=True):
            energy += change(matching, p, q, abs(n - m))
        lowest[choice[0]] = min(lowest[choice[0]], energy)
    return lowest


def sums_of_paths(matching: Matching) -> np.ndarray:
    """Return the sums over the eight paths; each L is an energy, less the lowest one at the pixel before."""
    height, width, _ = matching.costs.shape
    total = np.zeros(matching.costs.shape, int)
    for y, x, dy, dx in product(range(height), range(width), (-1, 0, 1), (-1, 0, 1)):
        if (dy, dx) == (0, 0):
            continue
        path = [(y, x)]  # from the pixel back to the frame
        while 0 <= path[-1][0] - dy < height and 0 <= path[-1][1] - dx < width:
            path.append((path[-1][0] - dy, path[-1][1] - dx))
        total[y, x] += lowest_energies(matching, path)
        total[y, x] -= lowest_energies(matching, path[1:]).min() if len(path) > 1 else 0
    return total


@pytest.mark.parametrize("shape", [(1, 5, 4), (5, 1, 4), (3, 4, 4), (4, 3, 3)])
@every_engine
def test_matching_finds_the_best_labelling_of_each_path(name, shape):
    matching = random_matching(shape, 30, 6, 17, seed=6)
    total = sums_of_paths(matching)
    best = matching.best(ENGINES[name])
    np.testing.assert_array_equal(np.rint(best.label), np.rint(vertices(total)))
    np.testing.assert_allclose(best.label, vertices(total), rtol=1e-6)
    np.testing.assert_array_equal(best.lowest, total.min(axis=-1))


def vertices(total: np.ndarray) -> np.ndarray:
    """Return the position of each lowest sum, between its neighbours."""
    found = np.empty(total.shape[:2])
    for pixel in np.ndindex(*found.shape):
        sums, n = total[pixel], int(total[pixel].argmin())
        inside = 0 < n < len(sums) - 1
        vertex = np.polyfit((-1, 0, 1), sums[n - 1 : n + 2], 2) if inside else (0.0, 0.0, 0.0)
        found[pixel] = n - (0.5 * vertex[1] / vertex[0] if vertex[0] > 1e-9 else 0.0)
    return found


@pytest.mark.parametrize(
    ("costs", "label", "curvature", "second"),
    [
        ([90, 40, 10, 40, 90], 2, 60, np.inf),
        ([90, 44, 10, 24, 90, 99], 2 + 10 / 48, 48, 99),
        ([5, 20, 30, 40, 50], 0, 0, 40),
        ([50, 40, 30, 20, 5], 4, 0, 40),
        ([9, 7, 7, 9], 1.5, 2, np.inf),
        ([7, 7, 7, 7, 6, 6, 6], 4.5, 1, 7),
        ([3, 3, 3], 0, 0, np.inf),
        ([3], 0, 0, np.inf),
    ],
)
@every_engine
def test_a_parabola_gives_the_fraction(name, costs, label, curvature, second):
    """A single pixel is the first of all eight paths."""
    volume = np.array(costs, np.uint16).reshape(1, 1, -1)
    best = Matching(volume, np.ones((4, 1, 1), np.float32), 3, 9).best(ENGINES[name])
    assert best.label == pytest.approx(label)
    assert best.lowest == 8 * min(costs)
    assert best.curvature == 8 * curvature
    assert best.second == 8 * second


@every_engine
def test_matching_carries_a_label_over_what_has_none(name):
    """Only the pixels at the rim know their label; an edge of the image lets another label begin."""
    costs = np.full((21, 30, 8), 50, np.uint16)
    costs[:, 0], costs[:, -1] = 100, 100
    costs[:, 0, 2], costs[:, -1, 5] = 0, 0
    edges = np.ones((4, 21, 30), np.float32)
    edges[[0, 2], :, 18], edges[3, :, 17] = 0.01, 0.01  # between the columns 17 and 18
    label = Matching(costs, edges, 40, 200).best(ENGINES[name]).label
    assert label[10, 1:18] == pytest.approx(np.full(17, 2), abs=0.5)
    assert label[10, 18:-1] == pytest.approx(np.full(11, 5), abs=0.5)


@every_engine
def test_a_plane_fits_itself(name):
    """Inside the frame exactly; at the frame, where the window is lopsided, `RIDGE` flattens the plane a little."""
    shape = 30, 40
    y, x = np.indices(shape)
    w = (0.05 * x - 0.02 * y).astype(np.float32)
    fitted = ask(ENGINES[name](blank_views(shape)), "fit_planes", w, 5, 1, 0.15, 4.0, 10.0)
    assert fitted[5:-5, 5:-5] == pytest.approx(w[5:-5, 5:-5], abs=1e-5)
    assert fitted == pytest.approx(w, abs=0.03)


@every_engine
def test_planes_stop_at_edges(name):
    """Of the disparity; and of the image, if the disparity changes too little to tell."""
    rng = np.random.default_rng(7)
    right = np.arange(40) >= 17
    for jump, views in ((3.0, blank_views((30, 40))), (0.2, two_tones((30, 40), right))):
        truth = np.broadcast_to(jump * right, (30, 40))
        w = (truth + 0.05 * rng.normal(size=truth.shape)).astype(np.float32)
        fitted = ask(ENGINES[name](views), "fit_planes", w, 6, 1, 0.1, 5.0, 0.3)
        assert np.abs(fitted - truth).max() < 0.08
        assert np.abs(fitted - truth).mean() < 0.3 * np.abs(w - truth).mean()


def two_tones(shape: tuple[int, int], light: np.ndarray) -> Views:
    views = blank_views(shape)
    return views._replace(colours=np.array(np.broadcast_to(200 * light.astype(np.uint8), views.colours.shape)))


@pytest.mark.parametrize("radius", [1, 2])
@every_engine
def test_a_median_of_one_colour_is_plain(name, radius):
    w = stepped_map((30, 41))
    got = ask(ENGINES[name](blank_views(w.shape)), "median", w, radius, 0.07)
    inner = np.s_[radius:-radius, radius:-radius]
    np.testing.assert_array_equal(got[inner], ndimage.median_filter(w, 2 * radius + 1)[inner])


@every_engine
def test_a_median_keeps_a_thin_bar_of_another_colour(name):
    bar = np.arange(40) == 17
    w = np.array(np.broadcast_to(bar, (30, 40)), np.float32)
    w[12, 30] = 9.0
    got = ask(ENGINES[name](two_tones(w.shape, bar)), "median", w, 2, 0.07)
    np.testing.assert_array_equal(got, np.broadcast_to(bar, w.shape))


@every_engine
def test_an_engine_for_other_views_keeps_its_device_and_its_threads(name):
    engine = ENGINES[name](flat_views((24, 32), CROSS, PAIRS))
    other = engine.for_views(shrunk(engine.views, 2))
    assert type(other) is type(engine)
    assert other.views.shape == (12, 16)
    assert other.device is engine.device
    assert getattr(other, "_threads", None) is getattr(engine, "_threads", None)


def test_the_kernel_of_a_blur():
    assert blur_kernel(0).tolist() == [1]
    for sigma, radius in ((0.2, 1), (0.7, 2), (1.4, 3)):
        taps = blur_kernel(sigma)
        assert len(taps) == 2 * radius + 1
        assert taps.sum() == pytest.approx(1)
        assert taps[radius + 1] / taps[radius] == pytest.approx(np.exp(-0.5 / sigma**2))


def test_the_weights_of_views():
    views = flat_views((3, 3), [(0, 2), (3, 4), (1, 0)], [0, 3])
    assert view_weights(views, 0) == pytest.approx([1, 1, 1])
    assert view_weights(views, 1.5) == pytest.approx([2**-1.5, 5**-1.5, 1])
    forwards = views._replace(epipoles=np.array([[0.1, 0.1, 0.1]]))  # the middle of the image stays where it is
    assert np.isfinite(view_weights(forwards, 1.5)).all()
