"""If the sensors of an array are shifted against each other, each view has its own principal point."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gradcon import Calibration, open_scene, synth
from gradcon.io.formats.hci import view_name, write_hci
from gradcon.io.images import read_image
from gradcon.scene.layout import Layout

ROWS, COLUMNS = 3, 5
CELLS = [(v, u) for v in range(ROWS) for u in range(COLUMNS)]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One light field whose columns, rows or both are counted from either end."""
    folder = tmp_path_factory.mktemp("arrays")
    synth.write("occlusion", folder / "all", size=(24, 32), grid=5, views="all")
    images = np.array([read_image(path) for path in sorted((folder / "all").glob("*.png"))]).reshape(5, 5, 24, 32, 3)
    images = images[1:4]
    parameters = {**open_scene(folder / "all").metadata, "num_cams_y": ROWS}
    del parameters["format"]
    ways = {"": images, "x": images[:, ::-1], "y": images[::-1], "xy": images[::-1, ::-1]}
    return {way: write_hci(folder / f"flip-{way}", views, parameters=parameters) for way, views in ways.items()}


@pytest.mark.parametrize("flip", ["x", "y", "xy"])
@pytest.mark.parametrize("cell", [(0, 0), (0, 3), (2, 4), (1, 2)])
def test_a_flipped_scene_equals_the_one_counted_the_right_way(
    folders: dict[str, Path], flip: str, cell: tuple[int, int]
) -> None:
    v, u = cell
    other = (ROWS - 1 - v if "y" in flip else v), (COLUMNS - 1 - u if "x" in flip else u)
    right = open_scene(folders[""], reference=view_name(*cell, COLUMNS))
    wrong = open_scene(folders[flip], reference=view_name(*other, COLUMNS))
    np.testing.assert_array_equal(wrong.colour, right.colour)
    flipped = wrong.flipped(x="x" in flip, y="y" in flip)
    assert flipped.fingerprint() == right.fingerprint()
    np.testing.assert_allclose(flipped.calibration.K, right.calibration.K, rtol=1e-12)
    back = flipped.flipped(x="x" in flip, y="y" in flip).calibration
    np.testing.assert_allclose(back.K, wrong.calibration.K, rtol=1e-12)
    if cell != (1, 2):  # in the middle, both are the same
        assert abs(wrong.calibration.K - right.calibration.K).max() > 0.5


def test_a_given_principal_point_is_kept() -> None:
    K = np.array([[100.0, 0, 17], [0, 100, 9], [0, 0, 1]])
    np.testing.assert_array_equal(Calibration(1.0, K, 0.5).laid_out(Layout(x=True, y=True)).K, K)


def test_points_of_two_middlebury_references_differ_by_the_baseline(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    for k in range(7):
        Image.fromarray(generator.integers(0, 256, (370, 40), np.uint8)).save(tmp_path / f"view{k}.png")
    D = 6  # pixels of the third size from view1 to view5, of whatever is seen in column 20
    for number, column in ((1, 20), (5, 20 - D)):
        grey = np.full((370, 40), 3 * 9, np.uint8)
        grey[:, column] = 3 * D
        Image.fromarray(grey).save(tmp_path / f"disp{number}.png")
    (tmp_path / "dmin.txt").write_text("270")
    clouds = {}
    for number in (1, 5):
        scene = open_scene(tmp_path, reference=f"view{number}.png", views=2)
        clouds[number] = scene.calibration.points(scene.calibration.depth(scene.ground_truth))
    difference = clouds[1][:, 20] - clouds[5][:, 20 - D]
    np.testing.assert_allclose(difference, np.broadcast_to([160, 0, 0], difference.shape), atol=1e-2)
    middle = open_scene(tmp_path, reference="view3.png", views=2).calibration
    assert middle.K[:2, 2].tolist() == [19.5, 184.5]
