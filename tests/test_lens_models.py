"""Lens models agree with OpenCV and COLMAP, and distortion that cannot be undone is refused."""

from __future__ import annotations

import numpy as np
import pytest

from gradcon.errors import InputError
from gradcon.io.formats.colmap_lens import MODELS as COLMAP_MODELS
from gradcon.io.formats.colmap_lens import lens_of
from gradcon.lens import Distortion, Undistortion

K = np.array([[310.0, 0, 162.5], [0, 305.0, 118.25], [0, 0, 1]])
SHAPE = (240, 320)
ORDERED = {
    "brown": (-0.21, 0.06, 0.0012, -0.0007, 0.011, 0.02, -0.004, 0.001),
    "fisheye": (0.03, -0.008, 0.004, -0.001),
    "thin-prism-fisheye": (0.03, -0.008, 0.0012, -0.0007, 0.004, -0.001, 0.002, -0.003),
    "fov": (0.9,),
}
y, x = np.mgrid[0 : SHAPE[0] : 12, 0 : SHAPE[1] : 16].astype(float)


def undistortion(model, parameters, new_K=K):
    return Undistortion(K, Distortion.of(model, parameters, "camera 3"), new_K, "camera 3")


def rays(new_K=K):
    """Return the normalised coordinates of the grid's pixels, (N, 2)."""
    homogeneous = np.stack([x, y, np.ones_like(x)], axis=-1).reshape(-1, 3)
    return (homogeneous @ np.linalg.inv(new_K).T)[:, :2]


@pytest.mark.parametrize("count", [4, 5, 8])
def test_brown_is_that_of_opencv(count):
    cv2 = pytest.importorskip("cv2")
    parameters = ORDERED["brown"][:count]
    points = np.column_stack([rays(), np.ones(x.size)])
    expected, _ = cv2.projectPoints(points, np.zeros(3), np.zeros(3), K, np.array(parameters))
    found = np.stack(undistortion("brown", parameters).places(x, y), axis=-1)
    np.testing.assert_allclose(found.reshape(-1, 2), expected.reshape(-1, 2), atol=1e-6)


def test_fisheye_is_that_of_opencv():
    cv2 = pytest.importorskip("cv2")
    wide = K * [[0.3], [0.3], [1]]  # up to 70 degrees off the axis
    expected = cv2.fisheye.distortPoints(rays(wide)[None], K, np.array(ORDERED["fisheye"]))
    found = np.stack(undistortion("fisheye", ORDERED["fisheye"], wide).places(x, y), axis=-1)
    np.testing.assert_allclose(found.reshape(-1, 2), expected.reshape(-1, 2), atol=1e-6)


def test_an_undistorted_image_is_that_of_opencv():
    cv2 = pytest.importorskip("cv2")
    smooth = cv2.GaussianBlur(np.random.default_rng(0).random((*SHAPE, 3), np.float32), (0, 0), 3)
    expected = cv2.undistort(smooth, K, np.array(ORDERED["brown"]))
    found = undistortion("brown", ORDERED["brown"]).image(smooth, "view")
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=2e-3)  # OpenCV interpolates linearly
    bytes_ = np.uint8(np.rint(255 * smooth))
    found = undistortion("brown", ORDERED["brown"]).image(bytes_, "view")
    assert (found.dtype, found.shape) == (np.uint8, bytes_.shape)
    np.testing.assert_allclose(found / 255, expected, atol=6e-3)


@pytest.mark.parametrize("name", COLMAP_MODELS)
def test_cameras_are_those_of_colmap(name):
    pycolmap = pytest.importorskip("pycolmap")
    known = COLMAP_MODELS[name]
    terms = ORDERED[known.distortion][: known.terms] if known.distortion else ()
    parameters = [310.0, *[305.0] * (known.focals - 1), 162.5, 118.25, *terms]
    camera = pycolmap.Camera(model=name, width=SHAPE[1], height=SHAPE[0], params=parameters, camera_id=1)
    assert camera.model.value == list(COLMAP_MODELS).index(name)
    expected = camera.img_from_cam(np.column_stack([rays(), np.ones(x.size)]))
    lens = lens_of(name, SHAPE[::-1], parameters, "camera 1")
    a, b = rays().T
    a, b = lens.undistortion.distortion.distorted(a, b) if lens.undistortion else (a, b)
    found = np.column_stack([a, b, np.ones(x.size)]) @ lens.K.T
    np.testing.assert_allclose(found[:, :2] + 0.5, expected, atol=1e-6)  # its pixel centres are at halves


def test_no_distortion_changes_nothing():
    image = np.random.default_rng(0).integers(0, 256, (*SHAPE, 3), np.uint8)
    lens = undistortion("brown", (0.0, 0.0, 0.0, 0.0))
    np.testing.assert_array_equal(lens.image(image, "view"), image)
    assert lens.seen(SHAPE) is None


def test_the_area_seen_is_what_lies_inside_the_given_image():
    assert undistortion("brown", (-0.2, 0.02)).seen(SHAPE) is None  # a barrel: the corners come from further inside
    lens = undistortion("brown", (0.2, 0.02))
    seen = lens.seen(SHAPE)
    v, u = np.indices(SHAPE)
    a, b = lens.places(u, v)
    np.testing.assert_array_equal(seen, (a > -0.01) & (a < SHAPE[1] - 0.99) & (b > -0.01) & (b < SHAPE[0] - 0.99))
    assert not seen[0, 0]
    assert seen[SHAPE[0] // 2, SHAPE[1] // 2]


@pytest.mark.parametrize(
    ("model", "parameters", "said"),
    [
        ("brown", (-1.2,), r"camera 3: .*folds the image over: with k1 = -1.2, .* near the pixel \(0, 239\)"),
        ("brown", (0.1, -9.0), "with k2 = -9"),
        ("brown", (0, 0, 0, 0.9), "with p2 = 0.9"),
        ("brown", (0, 0, 0, 0, 0, -4.0), "with k4 = -4"),
        ("brown", (1e300, 1e300), "folds the image over"),
        ("fisheye", (-1.5, 0, 0, 0), "with k1 = -1.5"),
        ("brown", (np.nan,), "camera 3: a parameter of its lens distortion is not finite"),
        ("fov", (3.2,), "omega = 3.2 of its lens is not below pi"),
    ],
)
def test_what_cannot_be_undone_is_refused(model, parameters, said):
    with pytest.raises(InputError, match=said) as caught:
        undistortion(model, parameters).seen(SHAPE)
    assert "\n" not in str(caught.value)


def test_more_than_half_of_all_directions_are_refused():
    short = np.array([[90.0, 0, 160], [0, 90.0, 120], [0, 0, 1]])  # 160 pixels are 102 degrees
    for model, parameters in (("fisheye", (0.0, 0.0, 0.0, 0.0)), ("fov", (1.0,))):
        lens = Undistortion(short, Distortion.of(model, parameters, "camera 3"), short, "camera 3")
        with pytest.raises(InputError, match="sees more than 180 degrees"):
            lens.seen(SHAPE)
    longer = short * [[1.2], [1.2], [1]]
    assert Undistortion(longer, Distortion.of("fisheye", (0.0,), "c"), longer, "c").seen(SHAPE) is None


def test_a_view_of_nothing_is_refused():
    aside = K + np.array([[0, 0, 9000], [0, 0, 0], [0, 0, 0]])
    with pytest.raises(InputError, match="only 0 % of its undistorted view show something"):
        undistortion("brown", (0.01,), aside).seen(SHAPE)
