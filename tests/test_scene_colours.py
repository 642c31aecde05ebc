"""The colours that a scene keeps, and the luma that it derives from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcon import Scene, open_scene
from gradcon.io.images import png
from gradcon.scene import scene as scene_module
from gradcon.scene.luma import to_luma
from gradcon.scene.shrink import shrunk
from gradcon.scene.variants import seen_from, smoothed

BASELINES = [(2, 0), (-1, 0), (0, 3)]  # the scene's order is 1, 0, 2
ORDER = [0, 2, 1, 3]  # of the views, the reference first
SHAPE = (12, 17)


def views(dtype: Any, channels: int = 3, largest: float = 255) -> list[np.ndarray]:
    random = np.random.default_rng(0)
    shape = (*SHAPE, channels) if channels else SHAPE
    return [(largest * random.random(shape)).astype(dtype) for _ in range(4)]


def planar(images: list[np.ndarray]) -> np.ndarray:
    return np.stack([np.moveaxis(images[k], -1, 0) for k in ORDER])


@pytest.mark.parametrize("channels", [3, 4])
@pytest.mark.parametrize(("dtype", "largest"), [(np.uint8, 255), (np.uint16, 65535), (">u2", 65535), (np.float32, 1)])
def test_colours_stay_as_they_are_without_alpha(dtype: Any, largest: float, channels: int) -> None:
    images = views(dtype, channels, largest)
    scene = Scene(images[0], images[1:], BASELINES)
    np.testing.assert_array_equal(scene.colours, planar(images)[:, :3])
    assert scene.colours.dtype == np.dtype(dtype).newbyteorder("=")
    assert scene.colours.flags.c_contiguous
    assert scene.colour_scale == 1 / largest
    np.testing.assert_array_equal(scene.reference, to_luma(images[0]))
    np.testing.assert_array_equal(scene.targets, [to_luma(images[k]) for k in ORDER[1:]])


@pytest.mark.parametrize(("dtype", "largest"), [(np.int16, 2**15 - 1), (np.uint32, 2**32 - 1), (np.int64, 2**63 - 1)])
def test_other_integers_become_fractions_of_their_range(dtype: Any, largest: int) -> None:
    images = views(dtype, largest=0.9 * largest)
    scene = Scene(images[0], images[1:], BASELINES)
    assert scene.colours.dtype == np.float32
    np.testing.assert_allclose(scene.colours, planar(images) / largest, rtol=1e-6)
    assert scene.colour_scale == 1 / scene.white


def test_boolean_views_are_black_and_white() -> None:
    images = [view > 127 for view in views(np.uint8)]
    scene = Scene(images[0], images[1:], BASELINES)
    assert scene.colours.dtype == np.float32
    np.testing.assert_array_equal(scene.colours, planar(images))


@pytest.mark.parametrize(("dtype", "largest"), [(np.uint16, 4095), (np.int32, 4095), (np.float64, 7.5)])
@pytest.mark.parametrize("channels", [0, 3])
def test_the_scale_brings_colours_to_the_unit_of_luma(dtype: Any, largest: float, channels: int) -> None:
    images = views(dtype, channels, largest)
    scene = Scene(images[0], images[1:], BASELINES)
    assert scene.white != 1
    weights = [1] if channels == 0 else [0.299, 0.587, 0.114]
    luma = np.einsum("c, vcyx -> vyx", weights, scene.colours * scene.colour_scale)
    np.testing.assert_allclose(luma[0], scene.reference, atol=1e-6)
    np.testing.assert_allclose(luma[1:], scene.targets, atol=1e-6)
    np.testing.assert_array_equal(scene.targets[0], to_luma(images[ORDER[1]]) / np.float32(scene.white))


@pytest.mark.parametrize("channels", [0, 1, 2])
def test_grey_views_have_one_channel(channels: int) -> None:
    images = views(np.uint8, channels)
    scene = Scene(images[0], images[1:], BASELINES)
    assert scene.colours.shape == (4, 1, *SHAPE)
    first = images[0] if channels == 0 else images[0][..., 0]
    np.testing.assert_array_equal(scene.colours[0, 0], first)


@pytest.mark.parametrize("functions", [False, True])
@pytest.mark.parametrize("coloured", [{0}, {2}, {1, 3}])
def test_grey_is_repeated_beside_colour_and_keeps_its_luma(coloured: set[int], functions: bool) -> None:
    colour, grey = views(np.uint16), views(np.uint16, 0)
    images = [colour[k] if k in coloured else grey[k] for k in range(4)]
    targets: list[Any] = [lambda k=k: images[k] for k in (1, 2, 3)] if functions else images[1:]
    scene = Scene(images[0], targets, BASELINES)
    assert scene.colours.shape == (4, 3, *SHAPE)
    for planes, k in zip(scene.colours, ORDER, strict=True):
        expected = np.moveaxis(colour[k], -1, 0) if k in coloured else np.stack(3 * [grey[k]])
        np.testing.assert_array_equal(planes, expected)
    flipped = scene.flipped(x=True)
    for each in (scene, flipped):
        for name, luma in zip(each.target_names, each.targets, strict=True):
            image = images[1 + int(name.removeprefix("target "))]
            np.testing.assert_array_equal(luma, to_luma(image) / np.float32(scene.white))


def test_files_arrays_and_functions_give_the_same_colours(tmp_path: Any) -> None:
    images = views(np.uint8)
    for k, image in enumerate(images):
        (tmp_path / f"view_0_{k}.png").write_bytes(png.encode(image))
    read = open_scene(tmp_path, reference="view_0_0.png")
    arrays = Scene(images[0], images[1:], read.baselines)
    functions = Scene(images[0], [lambda k=k: images[k] for k in (1, 2, 3)], read.baselines)
    assert read.fingerprint() == arrays.fingerprint() == functions.fingerprint()
    np.testing.assert_array_equal(read.colours, np.stack([np.moveaxis(image, -1, 0) for image in images]))


def test_the_views_are_not_shared_with_the_caller() -> None:
    images = np.stack(views(np.float32, largest=1))
    scene = Scene(images[0], images[1:], BASELINES)
    before = scene.colours.copy()
    images[...] = 0
    np.testing.assert_array_equal(scene.colours, before)


def test_flipped_baselines_keep_their_colours() -> None:
    images = views(np.uint8)
    scene = Scene(images[0], images[1:], [(2, 1), (-2, 1), (2, -1)])
    flipped = scene.flipped(x=True)
    assert flipped.target_names != scene.target_names
    assert flipped.colours.flags.c_contiguous
    np.testing.assert_array_equal(flipped.colours[0], scene.colours[0])
    for k, name in enumerate(flipped.target_names):
        image = images[1 + int(name.removeprefix("target "))]
        np.testing.assert_array_equal(flipped.colours[1 + k], np.moveaxis(image, -1, 0))
        np.testing.assert_array_equal(flipped.targets[k], to_luma(image))
    assert flipped.flipped(x=True).fingerprint() == scene.fingerprint()


@pytest.mark.parametrize(("dtype", "largest"), [(np.uint8, 255), (np.uint16, 4095), (np.float32, 3)])
def test_a_small_copy_keeps_colours(dtype: Any, largest: float) -> None:
    images = views(dtype, largest=largest)
    scene = Scene(images[0], images[1:], BASELINES)
    small = shrunk(scene, 6)  # blocks of 3 x 3; the last two columns are left out
    assert small.colours.shape == (4, 3, 4, 5)
    blocks = (scene.colours * scene.colour_scale)[..., :15].reshape(4, 3, 4, 3, 5, 3).mean(axis=(3, 5))
    np.testing.assert_allclose(small.colours * small.colour_scale, blocks, atol=1e-6)
    luma = scene.targets[..., :15].reshape(3, 4, 3, 5, 3).mean(axis=(2, 4))
    np.testing.assert_allclose(small.targets, luma, atol=1e-6)


@pytest.mark.parametrize("channels", [0, 3])
@pytest.mark.parametrize(("dtype", "largest"), [(np.uint8, 255), (np.uint16, 4095), (np.float32, 3)])
def test_smoothing_smooths_the_luma_of_all_views_alike(dtype: Any, largest: float, channels: int) -> None:
    images = views(dtype, channels, largest)
    scene = Scene(images[0], [images[0], *images[2:]], BASELINES)  # target 0 shows the same as the reference
    smooth = smoothed(scene, 1.5)
    same = smooth.target_names.index("target 0")
    np.testing.assert_array_equal(smooth.reference, smooth.target(same))
    np.testing.assert_array_equal(seen_from(smooth, "target 0").reference, smooth.reference)
    assert smooth.reference.std() < scene.reference.std() / 2


def test_luma_of_the_targets_is_computed_once_and_only_if_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    computed = []
    original = scene_module.luma_of_views
    monkeypatch.setattr(
        scene_module, "luma_of_views", lambda colours, *more: computed.append(len(colours)) or original(colours, *more)
    )
    images = views(np.uint8)
    scene = Scene(images[0], images[1:], BASELINES)
    scene.flipped(y=True).fingerprint()
    assert "4 views" in repr(scene)
    assert computed == [1]  # the reference
    assert scene.targets is scene.targets
    assert computed == [1, 3]


def test_the_fingerprint_depends_on_colour_type_and_white() -> None:
    images = views(np.uint8)
    swapped = [image[..., ::-1] for image in images]
    wide = [image.astype(np.uint16) for image in images]
    scenes = [
        Scene(images[0], images[1:], BASELINES),
        Scene(swapped[0], swapped[1:], BASELINES),
        Scene(images[0], images[1:], BASELINES, white=0.5),
        Scene(wide[0], wide[1:], BASELINES),
    ]
    assert len({scene.fingerprint() for scene in scenes}) == 4
