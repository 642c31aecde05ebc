"""Disparity maps by the sweep: precise on surfaces, sharp at edges, and the same whichever way the scene is turned."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from gradcon import Options, Scene, estimate
from gradcon.methods.registry import METHODS
from layered_scenes import CROSS, RIGS, bar, edge, layered, plane, turned_map, turned_over

pytestmark = pytest.mark.skipif("sweep" not in METHODS, reason="no method of this name yet")

INNER = np.s_[10:-10, 10:-10]  # seen by most views
every_rig = pytest.mark.parametrize("rig", RIGS.values(), ids=RIGS.keys())


def sweep(scene: Scene, engine: str = "cpu") -> NDArray[np.float32]:
    return estimate(scene, Options(method="sweep"), engine=engine, check_directions=False).disparity


def gcm(scene: Scene) -> NDArray[np.float32]:
    return estimate(scene, Options(method="gcm"), engine="cpu", check_directions=False).disparity


def rms(errors: NDArray[np.float32]) -> float:
    return float(np.sqrt(np.mean(errors**2)))


@pytest.mark.parametrize("disparity", [-1.3, 0.0, 0.37, 2.6])
@every_rig
def test_a_known_shift_is_found(rig, disparity):
    errors = np.abs(sweep(plane(disparity, rig))[INNER] - disparity)
    assert errors.max() < 0.05
    assert rms(errors) < 0.01


@pytest.mark.parametrize("angle", range(0, 360, 45))
@every_rig
def test_an_edge_is_found_to_half_a_pixel(rig, angle):
    """On average along the edge, neither side reaches more than half a pixel into the other."""
    scene = edge(angle, rig)
    nearer, true = sweep(scene)[INNER] > 0.2, scene.ground_truth[INNER] > 0.2
    c, s = abs(np.cos(np.radians(angle))), abs(np.sin(np.radians(angle)))
    length = nearer.shape[0] / max(c, s)
    assert np.sum(nearer & ~true) / length < 0.5
    assert np.sum(~nearer & true) / length < 0.5


@pytest.mark.parametrize("upright", [True, False])
@pytest.mark.parametrize("width", [2, 3, 5])
@every_rig
def test_a_thin_bar_is_kept(rig, width, upright):
    scene = bar(width, rig, upright)
    nearer, true = sweep(scene)[INNER] > 0.2, scene.ground_truth[INNER] > 0.2
    assert nearer[true].mean() > 0.8
    assert nearer.sum() < (width + 1) / width * true.sum()


@pytest.mark.parametrize("turn", ["x", "y", "turn"])
@every_rig
def test_a_turned_scene_gives_a_turned_map(rig, turn):
    scene = edge(30, rig)
    difference = np.abs(sweep(turned_over(scene, turn)) - turned_map(sweep(scene), turn))
    assert np.quantile(difference, 0.98) < 0.02
    assert difference.mean() < 0.01


def test_the_order_of_the_views_does_not_matter():
    scene = edge(30, CROSS)
    order = np.random.default_rng(0).permutation(len(CROSS))
    images = np.moveaxis(scene.colours, 1, -1)
    shuffled = Scene(images[0], images[1 + order], scene.baselines[order])
    assert sweep(scene).tobytes() == sweep(shuffled).tobytes()


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.03])
def test_noise_does_not_undo_the_gain_over_gcm(noise):
    scene = edge(30, CROSS, 2.0, -1.5, noise=noise)
    errors, before = (np.abs(w - scene.ground_truth) for w in (sweep(scene), gcm(scene)))
    assert rms(errors) < 0.85 * rms(before)
    assert np.mean(errors > 0.07) < 0.5 * np.mean(before > 0.07)


@pytest.mark.parametrize("engine", ["cpu"])
def test_engines_follow_the_reference(engine):
    scene = edge(30, CROSS, shape=(40, 44))
    difference = np.abs(sweep(scene, engine) - sweep(scene, "reference"))
    assert np.mean(difference > 0.01) < 0.01
    assert difference.mean() < 2e-3


def test_any_number_of_threads_gives_the_same_bytes(monkeypatch):
    scene, found = edge(30, CROSS), []
    for threads in (1, 2, 3):
        monkeypatch.setattr(numba, "get_num_threads", lambda threads=threads: threads)
        found.append(sweep(scene).tobytes())
    assert found[0] == found[1] == found[2]


def test_two_views_are_enough_for_a_shift():
    w = sweep(plane(1.3, [(-1, 0)]))
    assert np.abs(w[INNER] - 1.3).max() < 0.1


def constant(value: int, shape: tuple[int, int], targets: int = 4) -> Scene:
    image = np.full((*shape, 3), value, np.uint8)
    return Scene(image, [image] * targets, [(1, 0), (-1, 0), (0, 1), (0, -1)][:targets])


@pytest.mark.parametrize(
    "scene",
    [
        constant(128, (30, 40)),
        constant(0, (30, 40)),
        constant(255, (30, 40), targets=1),
        plane(0.6, [(-1, 0), (1, 0)], shape=(1, 50)),
        plane(0.6, [(0, -1), (0, 1)], shape=(50, 1)),
        plane(0.6, [(-1, 0)], shape=(3, 3)),
        layered([], CROSS, shape=(20, 20), noise=0.2),
    ],
    ids=["grey", "black", "two views of white", "one row", "one column", "nine pixels", "noise alone"],
)
def test_degenerate_input_gives_finite_maps(scene):
    result = estimate(scene, Options(method="sweep"), engine="cpu", check_directions=False)
    assert np.isfinite(result.disparity).all()
    assert np.isfinite(result.uncertainty).all()
    assert (result.uncertainty >= 0).all()
