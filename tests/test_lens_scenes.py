"""Scenes seen through lenses: as good as without them, and what no camera saw does not count."""

from __future__ import annotations

import copy
import json
import re

import numpy as np
import pytest
from scipy.ndimage import binary_erosion

from gradcon import InputError, Options, Scene, estimate, open_scene, write_rig
from gradcon.cli import main
from gradcon.engines.sweep_views import views_of
from gradcon.engines.views import frames_of, seen_rectangle
from gradcon.io import listing as listings
from gradcon.scene.geometry import Camera
from gradcon.scene.shrink import shrunk
from gradcon.scene.variants import without_views
from lens_scenes import write_distorted

SIZE = (64, 80)
RIM = 4  # pixels beside the unseen area that no camera but the reference's may have seen
LENSES = {
    "barrel": ("brown", [-0.25, 0.05, 0.002, -0.001]),
    "pincushion": ("brown", [0.25, 0.05, 0.0, 0.0, 0.01]),
    "fisheye": ("fisheye", [0.02, -0.01, 0.0, 0.0]),
}


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """Folders with scenes behind lenses, and what they would be without them."""
    found = {}
    for name, lens in LENSES.items():
        folder = tmp_path_factory.mktemp(name)
        found[name] = folder, write_distorted(folder, "rotated", SIZE, *lens)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("method", ["sweep", "gcm"])
@pytest.mark.parametrize("name", LENSES)
def test_a_lens_costs_little(pairs, name, method):
    folder, plain = pairs[name]
    scene = open_scene(folder)
    np.testing.assert_allclose(scene.M, plain.M, atol=1e-12)
    inner = binary_erosion(np.isfinite(scene.ground_truth), iterations=RIM, border_value=1)
    errors = []
    for each in (plain, scene):
        found = estimate(each, Options(method), engine="cpu", check_directions=False)
        errors.append(float(np.sqrt(np.mean(np.square(found.disparity - plain.ground_truth)[inner]))))
        assert not found.warnings
    assert errors[1] < 1.1 * errors[0] + 0.002


def test_each_view_is_decoded_once(pairs, monkeypatch):
    decoded = []
    read = listings.read_image
    monkeypatch.setattr(listings, "read_image", lambda path: decoded.append(path.name) or read(path))
    scene = open_scene(pairs["pincushion"][0])
    assert sorted(decoded) == sorted([scene.reference_name, *scene.target_names])


def test_a_scene_says_what_was_undistorted(pairs, tmp_path, capsys):
    folder, _ = pairs["pincushion"]
    scene = open_scene(folder)
    unseen = scene.metadata["undistorted"]["unseen"]
    assert scene.metadata["undistorted"] == {"views": 9, "models": ["brown"], "unseen": unseen}
    assert unseen == 1 - scene.seen.mean() > 0.02
    np.testing.assert_array_equal(np.isfinite(scene.ground_truth), scene.seen[0])
    assert main(["info", str(folder)]) == 0
    said = capsys.readouterr().out
    assert re.search(r"lens +9 views were undistorted as they were read \(model brown\); .* % of all pixels", said)
    assert main(["estimate", str(folder), "--out", str(tmp_path / "out"), "--engine", "cpu"]) == 0
    assert json.loads((tmp_path / "out/result.json").read_text())["source"]["metadata"]["undistorted"]["views"] == 9
    assert main(["convert", str(tmp_path / "out"), str(tmp_path / "maps.npz")]) == 0
    assert open_scene(pairs["barrel"][0]).metadata["undistorted"]["unseen"] == 0


def test_what_is_written_again_is_undistorted(pairs, tmp_path):
    scene = open_scene(pairs["fisheye"][0])
    cameras = [Camera(scene.calibration.K, np.eye(3), np.zeros(3))]
    cameras += [Camera(np.eye(3), np.eye(3), np.array([k / 10, 0, 0.0])) for k in range(1, 9)]
    names = [scene.reference_name, *scene.target_names]
    images = {name: np.moveaxis(view, 0, -1) for name, view in zip(names, scene.colours, strict=True)}
    write_rig(tmp_path, images, cameras, reference=names[0])
    again = open_scene(tmp_path)
    assert "undistorted" not in again.metadata
    np.testing.assert_array_equal(again.colour, scene.colour)


def gappy(unseen=9):
    """Return a scene of noise with gaps at one side of each view, and the same with other colours in the gaps."""
    rng = np.random.default_rng(0)
    wide = rng.integers(0, 256, (40, 70, 3), np.uint8)
    views = [wide[:, 8 + 2 * b : 56 + 2 * b].copy() for b in (0, -1, 1, 2)]  # disparity 2
    seen = np.ones((4, 40, 48), bool)
    seen[0, :, :unseen] = seen[1, :unseen] = seen[2, -unseen:] = seen[3, :, -unseen:] = False
    other = [np.where(mask[..., None], view, 255 - view) for mask, view in zip(seen, views, strict=True)]
    return [Scene(v[0], v[1:], [(1, 0), (-1, 0), (-2, 0)], seen=seen, white=1.0) for v in (views, other)]


@pytest.mark.parametrize("method", ["sweep", "gcm"])
def test_what_no_camera_saw_is_unsure(method):
    scene, _ = gappy()
    result = estimate(scene, Options(method, disparity_range=(0, 4)), engine="cpu", check_directions=False)
    unseen = ~scene.seen[0]
    assert result.uncertainty[unseen].min() >= 4
    assert np.median(result.uncertainty[~unseen]) < 1
    assert 0 <= result.disparity[unseen].min() <= result.disparity[unseen].max() <= 4
    assert np.median(np.abs(result.disparity - 2)[~unseen]) < 0.1


def test_views_of_a_sweep_have_gaps_where_cameras_saw_nothing():
    one, other = (views_of(scene) for scene in gappy())
    gaps = np.isnan(one.colours)
    assert not gaps[0].any()
    np.testing.assert_array_equal(one.colours[1:], other.colours[1:])
    np.testing.assert_array_equal(one.known, gappy()[0].seen[0])
    order = list(one.order)  # interpolation reaches two pixels into a gap
    assert gaps[1 + order.index(0), :, :7].all() or gaps[1 + order.index(1), :, :7].all()
    assert gaps[1:].mean() == pytest.approx(2 / 3 * 7 / 40 + 1 / 3 * 7 / 48, abs=1e-6)


def test_the_paper_uses_a_rectangle_that_was_seen():
    scene = gappy()[0]
    assert sorted(map(tuple, frames_of(scene).tolist())) == [(0, 38, 0, 39), (0, 47, 0, 30), (0, 47, 9, 39)]
    v, u = np.mgrid[-1:1:61j, -1:1:81j]
    seen = u**2 + v**2 < 1.2
    left, right, top, bottom = seen_rectangle(seen)
    inner = seen[top : bottom + 1, left : right + 1]
    assert inner.all()
    assert inner.size > 0.55 * seen.sum()
    assert seen_rectangle(np.ones((3, 5), bool)) == (0, 4, 0, 2)


def test_the_area_seen_follows_the_views():
    scene = gappy()[0]
    fewer = without_views(scene, [scene.target_names[0]])
    np.testing.assert_array_equal(fewer.seen, scene.seen[[0, 2, 3]])
    turned = scene.flipped(x=True)
    for name in scene.target_names:
        k, other = 1 + scene.target_names.index(name), 1 + turned.target_names.index(name)
        np.testing.assert_array_equal(turned.seen[other], scene.seen[k])
    assert shrunk(scene, 24).seen.shape == (4, 20, 24)
    whole = copy.copy(scene)
    whole.seen = None
    assert scene.fingerprint() != whole.fingerprint()
    with pytest.raises(InputError, match=r"what was seen is \(2, 40, 48\) bool, not \(4, 40, 48\) bool"):
        Scene(scene.colour, [scene.colour] * 3, scene.baselines, seen=scene.seen[:2])
    with pytest.raises(InputError, match="its view 1 saw nothing"):
        Scene(scene.colour, [scene.colour] * 3, scene.baselines, seen=scene.seen * [[[1]], [[0]], [[1]], [[1]]] > 0)
