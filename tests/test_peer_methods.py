"""The peers follow the package's conventions: the sign, the unit, and a value for every pixel."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage

from gradcon import evaluate, synth
from gradcon.errors import InputError
from gradcon.experiments import peer_methods
from gradcon.experiments.peer_methods import LIBRARIES, PEERS, TUNED, missing_libraries, run_peer, widest_pair
from gradcon.scene import Scene

pytestmark = pytest.mark.slow

pytest.importorskip("cv2")
pytest.importorskip("skimage")

RANGE = (-2.0, 2.0)  # pixels per unit baseline
INNER = np.s_[16:-16, 16:-16]  # leaves out the borders, where a shift brings in pixels that the reference does not have
CROSS = [(2, 0), (-2, 0), (1, 0), (-1, 0), (0, 2), (0, -2), (0, 1), (0, -1)]


def shifted(disparity: float, baselines: list[tuple[float, float]], size: int = 96) -> Scene:
    """Return a scene of a smooth random texture at one disparity, in pixels per unit baseline."""
    noise = np.random.default_rng(0).normal(size=(size, size))
    texture = ndimage.gaussian_filter(noise, 1.5, mode="wrap")
    texture = (texture - texture.min()) / np.ptp(texture)

    def view(B: tuple[float, float]) -> NDArray[Any]:
        # A point at x in the reference is seen at x + B w.
        moved = ndimage.shift(texture, (B[1] * disparity, B[0] * disparity), order=3, mode="grid-wrap")
        return np.clip(moved, 0, 1).astype(np.float32)

    return Scene(view((0, 0)), [view(B) for B in baselines], baselines)


@pytest.mark.parametrize("disparity", [0.75, -0.75])
@pytest.mark.parametrize("tuned", [False, True], ids=["default", "tuned"])
@pytest.mark.parametrize("name", PEERS)
def test_sign_and_unit(name: str, tuned: bool, disparity: float) -> None:
    w = run_peer(shifted(disparity, CROSS), name, tuned, RANGE)
    assert w.dtype == np.float32
    assert np.isfinite(w).all()
    assert np.median(w[INNER]) == pytest.approx(disparity, abs=0.1)
    assert np.mean(np.abs(w[INNER] - disparity) < 0.2) > 0.95


@pytest.mark.parametrize("tuned", [False, True], ids=["default", "tuned"])
@pytest.mark.parametrize("name", PEERS)
def test_map_of_a_scene_with_depth(name: str, tuned: bool) -> None:
    scene = synth.render("planes", size=(96, 96), grid=5)
    w = run_peer(scene, name, tuned, (-1.5, 1.5))
    assert w.shape == scene.shape
    assert np.isfinite(w).all()
    assert scene.ground_truth is not None
    if tuned:  # the defaults do badly on such a small image: DIS skips the two finest scales
        assert evaluate(w, scene.ground_truth)["rmse"] < 0.8 * float(np.std(scene.ground_truth))


@pytest.mark.parametrize(
    ("baselines", "widest"),
    [
        (CROSS, (-2, 0)),  # of two equally wide pairs, the one with the right-hand camera
        ([(1, 0), (3, 0), (-2, 0)], (3, 0)),
        ([(0, 5), (4, 4), (-1, 0)], (-1, 0)),  # the longer baselines are not in the reference's row
    ],
)
@pytest.mark.parametrize("disparity", [0.5, -1.0])
def test_sgbm_takes_the_widest_pair_of_the_row(
    baselines: list[tuple[float, float]], widest: tuple[float, float], disparity: float
) -> None:
    scene = shifted(disparity, baselines)
    assert tuple(scene.baselines[widest_pair(scene)]) == widest
    w = run_peer(scene, "sgbm", True, RANGE)
    assert np.median(w[INNER]) == pytest.approx(disparity, abs=0.08)


def test_sgbm_searches_the_given_range() -> None:
    scene = shifted(1.5, CROSS)
    assert np.median(run_peer(scene, "sgbm", True, (1.0, 2.0))[INNER]) == pytest.approx(1.5, abs=0.05)
    assert run_peer(scene, "sgbm", True, (-9.0, -6.0)).max() < 0


def test_unseen_pixels_take_the_background() -> None:
    nan = np.nan
    w = np.array([[nan, 1.0, nan, nan, -1.0, nan], [nan] * 6], np.float32)
    filled = peer_methods._nearest(peer_methods._background(w))
    np.testing.assert_array_equal(filled, [[1, 1, -1, -1, -1, -1]] * 2)


def test_every_peer_has_tuned_settings() -> None:
    assert set(TUNED) == set(PEERS)


def test_scenes_and_settings_that_cannot_run_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = shifted(0.5, [(0, 1)])
    with pytest.raises(InputError, match="name: 'orb' is not a peer; choose one of sgbm"):
        run_peer(scene, "orb", False, RANGE)
    with pytest.raises(InputError, match="no target in the reference's row"):
        run_peer(scene, "sgbm", False, RANGE)
    with pytest.raises(InputError, match=r"disparity_range: .* is empty"):
        run_peer(shifted(0.5, CROSS), "sgbm", False, (1.0, 1.0))
    with pytest.raises(InputError, match="planar array"):
        run_peer(synth.render("rotated", size=(32, 32), grid=3), "dis", False, RANGE)
    assert missing_libraries() is None
    monkeypatch.setitem(sys.modules, "cv2", None)  # as if it were not installed
    with pytest.raises(InputError, match="OpenCV and scikit-image are not installed") as error:
        run_peer(scene, "dis", False, RANGE)
    assert all(library in error.value.remedy for library in LIBRARIES)
