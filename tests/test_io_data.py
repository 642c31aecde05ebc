"""The real scenes open, and their ground truth has the sign that the readers' baselines imply."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import map_coordinates

from conftest import data_root
from gradcon.io import open_scene
from gradcon.io.formats.rig import write_rig
from gradcon.scene.geometry import project

pytestmark = pytest.mark.data
PATTERN = "2067_{row}_{col}.png"


def scenes(kind):
    root = data_root()
    return sorted(path.name for path in (root / kind).iterdir() if path.is_dir()) if root else ["none"]


def misfit(scene, k, sign):
    """Return the mean absolute difference between the reference and target k, warped by the ground truth."""
    height, width = scene.shape
    y, x = np.mgrid[:height, :width].astype(float)
    known = np.isfinite(scene.ground_truth)
    w = sign * np.where(known, scene.ground_truth, 0)
    u, v, _ = project(scene.M[k], scene.m[k], x, y, w)
    seen = known & (u >= 0) & (u <= width - 1) & (v >= 0) & (v <= height - 1)
    warped = map_coordinates(scene.targets[k], [v[seen], u[seen]], order=1)
    return np.abs(warped - scene.reference[seen]).mean()


def assert_sign(scene):
    ends = {int(k) for axis in (0, 1) for k in (scene.baselines[:, axis].argmin(), scene.baselines[:, axis].argmax())}
    for k in ends:  # the outermost views, where it matters most; `dots` is noisy by design and comes to 0.77
        assert misfit(scene, k, +1) < 0.9 * misfit(scene, k, -1), scene.target_names[k]


@pytest.mark.parametrize("name", scenes("hci"))
def test_hci(data_folder, name):
    scene = open_scene(data_folder / "hci" / name)
    assert (scene.shape, len(scene.targets), scene.reference_name) == ((512, 512), 16, "input_Cam040.png")
    assert scene.metadata["scene"] == name
    assert np.isfinite(scene.ground_truth).all()
    assert_sign(scene)


@pytest.mark.parametrize("name", scenes("middlebury2006"))
def test_middlebury_2006(data_folder, name):
    scene = open_scene(data_folder / "middlebury2006" / name)
    assert (scene.shape[0], len(scene.targets), scene.reference_name) == (370, 6, "view1.png")
    assert_sign(scene)


@pytest.mark.parametrize(("name", "targets", "largest"), [("cones", 8, 63.75 / 4), ("Dolls", 6, 255 / 4)])
def test_middlebury_2003_and_2005(data_folder, name, targets, largest):
    scene = open_scene(data_folder / "other" / name)
    assert len(scene.targets) == targets
    assert largest / 4 < np.nanmax(scene.ground_truth) <= largest
    assert_sign(scene)


def test_a_pattern_of_real_files(data_folder):
    scene = open_scene(data_folder / "other" / "lytro2067", pattern=PATTERN)
    assert (scene.shape, len(scene.targets), scene.reference_name) == ((383, 552), 16, "2067_05_05.png")
    assert scene.ground_truth is None


def test_a_rig_of_real_files(data_folder, tmp_path):
    from gradcon.io.images import read_image

    folder = data_folder / "hci" / "dots"
    names = ["input_Cam040.png", "input_Cam041.png", "input_Cam031.png"]
    pictures = {name: read_image(folder / name) for name in names}
    write_rig(tmp_path, pictures, [(0, 0), (-1, 0), (0, 1)], reference=names[0])
    direct = open_scene(folder, views=17)
    rig = open_scene(tmp_path)
    for name in names[1:]:
        a, b = rig.target_names.index(name), direct.target_names.index(name)
        np.testing.assert_array_equal(rig.baselines[a], direct.baselines[b])
        np.testing.assert_array_equal(rig.targets[a], direct.targets[b])
