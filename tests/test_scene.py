"""What a Scene makes of its views, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcon import InputError, Scene
from gradcon.scene import choose_views
from gradcon.scene.geometry import Camera
from gradcon.scene.luma import to_luma

SHAPE = (5, 7)
B = [(-1, 0), (1, 0), (0, 2), (-2, 0), (1, 1)]


def image(seed: int, shape: tuple[int, ...] = SHAPE) -> np.ndarray:
    return np.random.default_rng(seed).uniform(size=shape).astype(np.float32)


def scene(**changes: Any) -> Scene:
    parts: dict[str, Any] = {
        "reference": image(0),
        "targets": [image(1 + k) for k in range(len(B))],
        "baselines": B,
        "name": "rig",
        "target_names": [f"{k}.png" for k in range(len(B))],
    }
    return Scene(**{**parts, **changes})


# ------------------------------------------------------------------------------------------------- refusals


def with_target(k: int, view: Any) -> list[Any]:
    return [view if j == k else image(1 + j) for j in range(len(B))]


def spoilt(value: float) -> np.ndarray:
    view = image(2)
    view[2, 3] = value
    return view


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"targets": [], "baselines": np.zeros((0, 2)), "target_names": []}, "^rig: .*at least two views"),
        ({"target_names": ["a", "b"]}, "^rig: 5 targets but 2 target names"),
        ({"targets": with_target(1, image(9, (5, 6)))}, "^1.png: is 6 x 5 pixels but reference is 7 x 5"),
        ({"targets": with_target(2, spoilt(np.nan))}, "^2.png: 1 pixel values are NaN or infinite"),
        ({"targets": with_target(2, spoilt(np.inf))}, "^2.png: 1 pixel values are NaN or infinite"),
        ({"reference": spoilt(np.nan)}, "^reference: 1 pixel values are NaN"),
        (
            {"targets": with_target(0, image(9, (5, 7, 5)))},
            r"^0.png: has the shape \(5, 7, 5\), which is not an image's; give",
        ),
        (
            {"targets": with_target(0, np.zeros((0, 7)))},
            r"^0.png: has the shape \(0, 7\), which is not an image's; give",
        ),
        ({"targets": with_target(0, image(9, (35,)))}, r"^0.png: has the shape \(35,\), which is not an image's; give"),
        ({"targets": with_target(0, image(9) * 1j)}, "^0.png: its pixels are complex"),
        ({"baselines": B[:-1]}, "^rig: baselines must be"),
        ({"baselines": None}, "^rig: neither baselines nor transforms are given"),
        (
            {"transforms": (np.zeros((5, 3, 3)), np.zeros((5, 3)))},
            "^rig: both baselines and transforms are given",
        ),
        ({"baselines": [*B[:-1], (np.nan, 1)]}, "^rig: .*NaN or an infinity"),
        ({"baselines": [*B[:-1], (np.inf, 1)]}, "^rig: .*NaN or an infinity"),
        ({"baselines": [*B[:-1], (-1, 0)]}, "^4.png: has the same baseline as 0.png"),
        ({"baselines": [*B[:-1], (-1, -0.0)]}, "^4.png: has the same baseline as 0.png"),
        ({"baselines": [*B[:-1], (0, 0)]}, "^4.png: stands at the position of reference"),
        ({"baselines": np.zeros((5, 2))}, "^0.png: stands at the position of reference"),
        (
            {"ground_truth": np.zeros((5, 6))},
            r"^rig: its ground truth has the shape \(5, 6\) but the views have \(5, 7\)",
        ),
    ],
)
def test_refuses_and_says_what_and_where(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        scene(**changes)


def test_transforms_of_the_wrong_shape_are_refused() -> None:
    with pytest.raises(InputError, match="transforms must be"):
        scene(baselines=None, transforms=(np.tile(np.eye(3), (4, 1, 1)), np.ones((4, 3))))


K = np.array([[90.0, 0, 3], [0, 90, 2], [0, 0, 1]])


def at(*position: float, R: np.ndarray | None = None) -> Camera:
    R = np.eye(3) if R is None else R
    return Camera.of(K, R, -R @ np.array(position))


@pytest.mark.parametrize(
    ("cameras", "said"),
    [
        ([at(0, 0, 0), at(1, 0, 0), at(0, 0, 0)], "^target 1: stands at the position of reference"),
        ([at(0, 0, 0), at(1, 0, 0), at(1, 0, 0)], "^target 1: has the same baseline as target 0"),
        (
            [at(0, 0, 0), at(1, 0, 0), at(2, 0, 0, R=np.diag([-1.0, 1, -1]))],
            "^target 1: its camera sees nothing",
        ),
        ([at(0, 0, 0), at(1, 0, 0)], "2 cameras .* 3 views"),
        ([], "0 cameras .* 3 views"),
    ],
)
def test_cameras_that_cannot_be_used_are_refused(cameras: list[Camera], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Scene.from_cameras(image(0), [image(1), image(2)], cameras)


# ------------------------------------------------------------------------------------------------- geometry


def test_the_order_in_which_views_are_listed_does_not_matter() -> None:
    first = scene()
    order = [3, 1, 4, 0, 2]
    second = scene(
        targets=[image(1 + k) for k in order],
        baselines=[B[k] for k in order],
        target_names=[f"{k}.png" for k in order],
    )
    assert first.fingerprint() == second.fingerprint()
    assert first.target_names == second.target_names
    np.testing.assert_array_equal(first.targets, second.targets)
    np.testing.assert_array_equal(first.baselines, second.baselines)


@pytest.mark.parametrize("scale", [1.0, 1e-11, 1e6])
def test_views_are_kept_with_their_baselines_nearest_first(scale: float) -> None:
    kept = scene(baselines=scale * np.array(B))
    assert (np.diff(np.hypot(*kept.baselines.T)) >= 0).all()
    assert kept.unit == pytest.approx(scale)
    for name, view, baseline in zip(kept.target_names, kept.targets, kept.baselines, strict=True):
        k = int(name.removesuffix(".png"))
        np.testing.assert_array_equal(view, image(1 + k))
        np.testing.assert_allclose(baseline, scale * np.array(B[k]), rtol=1e-12)


def test_rotated_cameras_are_independent_of_order_too() -> None:
    roll = np.array([[0.8, -0.6, 0], [0.6, 0.8, 0], [0, 0, 1]])
    cameras = [at(0.1, 0, 0), at(0.1, 0, 0, R=roll), at(0, 0.1, 0.02)]  # two share a position
    views = [image(k) for k in (1, 2, 3)]
    one = Scene.from_cameras(image(0), views, [at(0, 0, 0), *cameras])
    two = Scene.from_cameras(image(0), views[::-1], [at(0, 0, 0), *cameras[::-1]])
    assert one.fingerprint() == two.fingerprint()


def test_light_field_convention() -> None:
    """Camera (v, u) right of and below the reference sees a near pixel further left and further up."""
    views = (np.arange(3 * 5 * 6 * 6) % 251).astype(np.uint8).reshape(3, 5, 6, 6)
    found = Scene.from_lightfield(views)
    assert found.reference_name == "view (1, 2)"
    np.testing.assert_allclose(found.reference, views[1, 2] / 255.0, rtol=1e-6)
    placed = dict(zip(found.target_names, zip(found.baselines.tolist(), found.targets, strict=True), strict=True))
    assert len(placed) == 14
    assert placed["view (1, 3)"][0] == [-1, 0]
    assert placed["view (2, 2)"][0] == [0, -1]
    assert placed["view (0, 0)"][0] == [2, 1]
    np.testing.assert_allclose(placed["view (0, 4)"][1], views[0, 4] / 255.0, rtol=1e-6)


def test_light_field_with_another_reference_and_colour() -> None:
    views = image(0, (2, 2, 6, 8, 3))
    found = Scene.from_lightfield(views, (0, 1), ground_truth=np.ones((6, 8)), name="lf")
    assert found.reference_name == "view (0, 1)"
    np.testing.assert_array_equal(found.colour, views[0, 1])
    placed = dict(zip(found.target_names, found.baselines.tolist(), strict=True))
    assert placed == {"view (0, 0)": [1, 0], "view (1, 1)": [0, -1], "view (1, 0)": [1, -1]}


@pytest.mark.parametrize("shape", [(3, 64, 48, 3), (3, 64, 48)])
def test_a_row_of_views_is_not_taken_for_thousands_of_narrow_ones(shape: tuple[int, ...]) -> None:
    views = image(0, shape)
    found = Scene.from_lightfield(views)
    assert found.shape == (64, 48)
    assert dict(zip(found.target_names, found.baselines.tolist(), strict=True)) == {
        "view (0, 0)": [1, 0],
        "view (0, 2)": [-1, 0],
    }
    np.testing.assert_array_equal(found.colour, views[1])


@pytest.mark.parametrize(
    ("shape", "reference", "said"),
    [
        ((9, 9), None, "is not a light field"),
        ((64, 64, 3), None, "is one image"),
        ((3, 3, 9, 9), (3, 0), "outside"),
        ((1, 1, 9, 9), None, "two views"),
        ((64, 64, 3, 3, 3), None, r"4,096 views of 3 x 3 pixels; order its axes as \[v, u, y, x\]"),
        ((64, 64, 5, 5), None, "4,096 views of 5 x 5 pixels"),
    ],
)
def test_light_fields_that_are_refused(shape: tuple[int, ...], reference: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Scene.from_lightfield(np.zeros(shape), reference)


def test_cameras_make_the_nearest_baseline_one_and_say_how_to_get_depth() -> None:
    found = Scene.from_cameras(
        image(0), [image(1), image(2)], [at(0, 0, 0), at(0.2, 0, 0), at(0, -0.1, 0)], metadata={"a": 1}
    )
    assert found.unit == pytest.approx(1)
    np.testing.assert_allclose(found.baselines, [[0, 1], [-2, 0]], atol=1e-9)
    assert found.metadata["a"] == 1
    assert found.calibration.product == pytest.approx(9.0)  # 0.1 x 90 pixels


# --------------------------------------------------------------------------------------------------- pixels


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_integers_are_scaled_by_their_types_range(dtype: type) -> None:
    top = np.iinfo(dtype).max
    np.testing.assert_allclose(to_luma(np.array([[0, top // 3, top]], dtype)), [[0, 1 / 3, 1]], rtol=1e-6)


def test_colour_becomes_rec_601_luma_and_alpha_is_left_out() -> None:
    primaries = np.eye(3, dtype=np.uint8)[None] * 255
    np.testing.assert_allclose(to_luma(primaries), [[0.299, 0.587, 0.114]], rtol=1e-6)
    with_alpha = np.concatenate([primaries, np.full((1, 3, 1), 77, np.uint8)], axis=2)
    np.testing.assert_array_equal(to_luma(with_alpha), to_luma(primaries))
    np.testing.assert_array_equal(to_luma(with_alpha[..., 2:]), with_alpha[..., 2] / np.float32(255))


def test_floats_in_range_are_kept_and_larger_ones_divided_by_one_number() -> None:
    kept = scene()
    np.testing.assert_array_equal(kept.reference, image(0))
    scaled = scene(reference=200 * image(0), targets=[200 * image(1 + k) for k in range(5)])
    largest = max(image(k).max() for k in range(6))
    np.testing.assert_allclose(scaled.reference, image(0) / largest, rtol=1e-5)
    np.testing.assert_allclose(scaled.targets, kept.targets / largest, rtol=1e-5)


def test_ground_truth_that_is_not_finite_is_unknown() -> None:
    truth = np.zeros(SHAPE)
    truth[0, :3] = np.inf, -np.inf, np.nan
    found = scene(ground_truth=truth).ground_truth
    assert np.isnan(found[0, :3]).all()
    assert (found[1:] == 0).all()


def test_the_fingerprint_is_of_pixels_and_geometry_alone() -> None:
    plain = scene().fingerprint()
    renamed = scene(name="other", ground_truth=np.ones(SHAPE), metadata={"a": 1}, target_names=list("abcde"))
    assert renamed.fingerprint() == plain
    assert scene(reference=image(0) * np.float32(0.999)).fingerprint() != plain
    assert scene(targets=with_target(4, image(99))).fingerprint() != plain
    assert scene(baselines=[*B[:-1], (1, 1.001)]).fingerprint() != plain


# ---------------------------------------------------------------------------------------------------- views

GRID = [(u, v) for v in range(-4, 5) for u in range(-4, 5) if (u, v) != (0, 0)]


@pytest.mark.parametrize(
    ("which", "count"),
    [("all", 80), ("cross", 16), ("star", 32), (17, 16), ("17", 16), (2, 1), (81, 80), (np.int64(17), 16)],
)
def test_choose_views_counts(which: str | int, count: int) -> None:
    chosen = choose_views(GRID, which)
    assert len(set(chosen)) == count
    assert chosen == sorted(chosen)


def test_choose_views_takes_what_it_says() -> None:
    assert all(0 in GRID[k] for k in choose_views(GRID, "cross"))
    assert all(0 in GRID[k] or abs(GRID[k][0]) == abs(GRID[k][1]) for k in choose_views(GRID, "star"))
    nearest = {GRID[k] for k in choose_views(GRID, 9)}
    assert nearest == {(u, v) for u in (-1, 0, 1) for v in (-1, 0, 1)} - {(0, 0)}


def test_choose_views_of_tiny_baselines_still_takes_the_nearest() -> None:
    scaled = 1e-11 * np.array(GRID)
    assert choose_views(scaled, 5) == choose_views(GRID, 5)


@pytest.mark.parametrize(
    "which", ["diagonal", "", "1", 1, 0, -3, 82, "82", 2.5, True, None, [3], np.float64(3), np.arange(3)]
)
def test_choose_views_refuses(which: Any) -> None:
    with pytest.raises(InputError, match=r"^views: "):
        choose_views(GRID, which)


def test_choose_views_refuses_where_none_is_left() -> None:
    with pytest.raises(InputError, match="try all"):
        choose_views([(1, 2), (2, 1)], "cross")


@pytest.mark.parametrize(
    ("dtype", "bits"), [(np.uint16, 8), (np.uint16, 10), (np.uint16, 12), (np.uint16, 14), (np.uint16, 16),
                        (np.int16, 12), (np.int32, 8), (np.int64, 8), (np.uint32, 16)],
)  # fmt: skip
def test_integers_that_do_not_fill_their_type_are_as_bright_as_those_that_do(dtype: Any, bits: int) -> None:
    views = [image(k) for k in range(2)]
    white = 2**bits - 1
    found = Scene(*((view * white).astype(dtype) for view in views[:1]), [(views[1] * white).astype(dtype)], [(1, 0)])
    np.testing.assert_allclose(found.reference, views[0], atol=1.5 / white)
    np.testing.assert_allclose(found.targets[0], views[1], atol=1.5 / white)


def test_dark_8_bit_images_stay_dark() -> None:
    dark = [np.uint8(20 * image(k)) for k in range(2)]
    assert Scene(dark[0], dark[1:], [(1, 0)]).reference.max() < 0.1


def test_a_camera_that_looks_elsewhere_does_not_confuse_the_choice_of_views() -> None:
    B = [(3, 0), (1, 0), (np.nan, np.nan), (2, 0)]
    assert choose_views(B, 3) == [1, 3]


def test_a_flipped_frame_keeps_the_white_of_its_video():
    bright = np.full((4, 5), 0.9)
    frame = Scene(bright, [bright], [(1, 0)], white=0.3)  # brighter than the frame that set the white
    flipped = frame.flipped(x=True)
    np.testing.assert_array_equal(flipped.reference, frame.reference)
    np.testing.assert_array_equal(flipped.targets, frame.targets)
    assert flipped.white == frame.white
