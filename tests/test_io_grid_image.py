"""A single image that holds all views, as tiles or micro-images."""

from __future__ import annotations

import numpy as np
import pytest

from gradcon import synth
from gradcon.errors import InputError
from gradcon.io import open_scene
from gradcon.io.formats import grid_image
from gradcon.io.formats.format import Hints
from gradcon.io.formats.registry import list_scene
from gradcon.io.images import png, read_image
from gradcon.scene import Scene


@pytest.fixture(scope="module")
def lightfield(tmp_path_factory):
    """Rendered views, [v, u, y, x, channel], with more columns than rows so that the two cannot be confused."""
    folder = synth.write("planes", tmp_path_factory.mktemp("planes"), (12, 16), grid=5, views="all")
    views = [read_image(folder / f"input_Cam{k:03d}.png") for k in range(25)]
    return np.array(views).reshape(5, 5, 12, 16, 3)[1:4]


def tiled(views):
    rows, columns, height, width, _ = views.shape
    return views.transpose(0, 2, 1, 3, 4).reshape(rows * height, columns * width, 3)


def micro(views):
    rows, columns, height, width, _ = views.shape
    return views.transpose(2, 0, 3, 1, 4).reshape(height * rows, width * columns, 3)


@pytest.mark.parametrize(("layout", "micro_images"), [(tiled, False), (micro, True)])
@pytest.mark.parametrize(("told", "cell"), [(None, None), ("2,1", (2, 1)), ("view (0, 4)", (0, 4))])
def test_the_scene_equals_that_of_the_light_field(tmp_path, lightfield, layout, micro_images, told, cell):
    path = tmp_path / "all views.png"
    path.write_bytes(png.encode(layout(lightfield)))
    scene = open_scene(path, grid=(3, 5), micro_images=micro_images, reference=told)
    expected = Scene.from_lightfield(lightfield, cell)
    assert scene.fingerprint() == expected.fingerprint()
    assert scene.baselines.tolist() == expected.baselines.tolist()
    assert (scene.reference_name, scene.target_names) == (expected.reference_name, expected.target_names)
    assert scene.name == "all views"
    assert scene.colour.base is None  # the large image is not kept alive by the scene


def test_the_image_is_read_once(tmp_path, lightfield, monkeypatch):
    reads = []
    monkeypatch.setattr(grid_image, "read_image", lambda path: reads.append(path) or read_image(path))
    path = tmp_path / "tiles.png"
    path.write_bytes(png.encode(tiled(lightfield)))
    listing = list_scene(path, Hints(grid=(3, 5)))
    assert "a grid was given" in listing.recognised
    path.unlink()
    for view in listing.views:
        assert view.read(0).shape == (12, 16, 3)
    assert len(reads) == 1


@pytest.mark.parametrize(
    ("hints", "said"),
    [
        ({"grid": (7, 5)}, r"is 80 x 36 pixels.*crop it to 80 x 35.*such as 6 or 9 rows and 5 columns"),
        ({"grid": (3, 7)}, r"crop it to 77 x 36.*such as 3 rows and 5 or 8 columns"),
        ({"grid": (37, 5)}, r"do not divide evenly; give a grid that does, such as 36 rows"),
        ({"grid": (1, 1)}, "grid: 1 x 1 is not a grid"),
        ({"grid": (0, 5)}, "grid: 0 x 5 is not a grid"),
        ({"grid": (-3, -5)}, "grid: -3 x -5 is not a grid"),
        ({"grid": (200, 200)}, "more than the 16,384 views"),
        ({"grid": (3.0, 5)}, "not a number of rows"),
        ({"grid": 3}, "not a number of rows"),
        (
            {"grid": (3, 5), "reference": "3,0"},
            r"'3,0' is not one of its views; choose from view \(0, 0\) to view \(2, 4\)",
        ),
        ({"grid": (3, 5), "reference": "middle"}, "'middle' is not one of its views"),
        ({"grid": (3, 5), "neighbours": 4}, "neighbours .--neighbours. means nothing here"),
        ({}, r"is a single image.*--grid ROWSxCOLUMNS"),
        ({"micro_images": True}, r"--grid ROWSxCOLUMNS, with --micro-images"),
    ],
)
def test_refusals(tmp_path, lightfield, hints, said):
    path = tmp_path / "tiles.png"
    path.write_bytes(png.encode(tiled(lightfield)))
    with pytest.raises(InputError, match=said):
        open_scene(path, **hints)


def test_files_that_are_not_images(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("no image")
    with pytest.raises(InputError, match=r"notes\.txt: is not an image"):
        open_scene(path, grid=(3, 3))
    with pytest.raises(InputError, match=r"notes\.txt: is not a file that can be opened"):
        open_scene(path)
    (tmp_path / "cut.png").write_bytes(png.encode(np.zeros((6, 6), np.uint8))[:40])
    with pytest.raises(InputError, match=r"cut\.png: .*export the image again"):
        open_scene(tmp_path / "cut.png", grid=(3, 3))
