"""Tiles that are told to be micro-images are doubted, and the other way round; right layouts never are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from gradcon import Options, estimate, open_scene, synth
from gradcon.io.formats.grid_layout import layout_doubts
from gradcon.io.images import png

Pixels = NDArray[Any]


def light_field(name: str, size: tuple[int, int], grid: int) -> Pixels:
    """Render array[v, u, y, x, channel]."""
    scene = synth.render(name, size, grid=grid, views="all")
    views = np.empty((grid, grid, *size, 3), np.uint8)
    for (x, y), colours in zip([(0, 0), *scene.baselines.astype(int)], scene.colours, strict=True):
        views[grid // 2 - y, grid // 2 - x] = np.moveaxis(colours, 0, -1)
    return views


def tiles(views: Pixels) -> Pixels:
    v, u, h, w = views.shape[:4]
    return np.moveaxis(views, 2, 1).reshape(v * h, u * w, *views.shape[4:])


def micro_images(views: Pixels) -> Pixels:
    v, u, h, w = views.shape[:4]
    return views.transpose(2, 0, 3, 1, *range(4, views.ndim)).reshape(v * h, u * w, *views.shape[4:])


@pytest.mark.parametrize("name", ["planes", "occlusion", "sphere", "low-texture", "parallel"])
@pytest.mark.parametrize(("grid", "size"), [(3, (64, 64)), (5, (96, 128)), (9, (64, 96))])
def test_every_wrong_layout_is_doubted_and_no_right_one(name: str, grid: int, size: tuple[int, int]) -> None:
    views = light_field(name, size, grid)
    noise = np.random.default_rng(0).normal(0, 4, views.shape)
    kinds = {
        "colour": views,
        "grey": views.mean(axis=-1).astype(np.uint8),
        "one row": views[:1],
        "one column": views[:, -1:],
        "16 bits": views.astype(np.uint16) * 257,
        "noise": np.clip(views + noise, 0, 255).astype(np.uint8),
    }
    for kind, given in kinds.items():
        cells = given.shape[:2]
        assert layout_doubts(tiles(given), cells, False) == [], kind
        assert layout_doubts(micro_images(given), cells, True) == [], kind
        (said,) = layout_doubts(tiles(given), cells, True)
        assert f"seems to consist of {cells[0]} x {cells[1]} tiles rather than of micro-images" in said, kind
        (said,) = layout_doubts(micro_images(given), cells, False)
        assert f"seems to consist of micro-images of {cells[0]} x {cells[1]} pixels rather than of tiles" in said, kind


def test_images_that_show_nothing_are_not_doubted(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for image in (np.zeros((240, 240), np.uint8), rng.integers(0, 256, (240, 240), dtype=np.uint8), np.ones((12, 12))):
        for cells in ((3, 3), (1, 6), (2, 1)):
            for told in (False, True):
                assert layout_doubts(image, cells, told) == []
    views = np.repeat(rng.integers(0, 256, (8, 1, 64, 64), dtype=np.uint8), 8, axis=1)  # JPEG has borders at 8 pixels
    Image.fromarray(tiles(views)).save(tmp_path / "tiles.jpg", quality=25)
    assert open_scene(tmp_path / "tiles.jpg", grid=(8, 8)).doubts == []


def test_a_doubt_becomes_a_warning_of_the_result(tmp_path: Path) -> None:
    path = tmp_path / "views.png"
    path.write_bytes(png.encode(tiles(light_field("planes", (64, 64), 3))))
    assert open_scene(path, grid=(3, 3)).doubts == []
    scene = open_scene(path, grid=(3, 3), micro_images=True)
    assert scene.flipped(x=True).doubts == scene.doubts
    with pytest.warns(UserWarning, match=r"views: the image seems to consist of 3 x 3 tiles .* leave --micro-images"):
        result = estimate(scene, Options("gcm", solves=1), engine="cpu", check_directions=False)
    assert [text for text in result.warnings if "tiles" in text] == [f"views: {scene.doubts[0]}."]


@pytest.mark.data
def test_the_layouts_of_real_scenes_are_told_apart(data_folder: Path) -> None:
    for folder in sorted((data_folder / "hci").iterdir())[:3]:
        row = np.stack([np.array(Image.open(folder / f"input_Cam{k:03d}.png")) for k in range(36, 45)])[None]
        for layout, told in ((tiles, False), (micro_images, True)):
            assert layout_doubts(layout(row), (1, 9), told) == [], folder.name
            assert layout_doubts(layout(row), (1, 9), not told) != [], folder.name
