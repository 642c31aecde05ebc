"""The files of a COLMAP model are read strictly: hand-written text, damaged text, damaged binary."""

from __future__ import annotations

import struct
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import value_or_refusal
from gradcon.errors import InputError
from gradcon.extras import install_extra
from gradcon.io import open_scene
from gradcon.io.formats.colmap import list_colmap
from gradcon.io.formats.colmap_model import Model, read_model
from gradcon.io.formats.format import Hints
from gradcon.io.images import png
from gradcon.lens import Distortion, Undistortion

CAMERAS = "# comment\n1 PINHOLE 8 6 10 10 4 3\n2 SIMPLE_PINHOLE 8 6 11 4 3\n"
IMAGES = "# comment\n1 1 0 0 0 0 0 0 1 a  b.png\n1.5 2.5 7 3 3 -1\n\n2 1 0 0 0 -1 0 0 2 c/d.png\n3 3 7\n"
NAMES = ("a.png", "c/d.png")
POINTS = "# comment\n7 0.5 0 5 255 0 0 0.1 1 0 2 0\n"


def by_hand(folder, cameras=CAMERAS, images=IMAGES, points=POINTS):
    (folder / "sparse").mkdir()
    (folder / "images/c").mkdir(parents=True)
    for part, text in (("cameras", cameras), ("images", images), ("points3D", points)):
        if text is not None:
            (folder / "sparse" / f"{part}.txt").write_text(text)
    for name in ("a  b.png", "c/d.png"):
        (folder / "images" / name).write_bytes(png.encode(np.full((6, 8), len(name), np.uint8)))
    return folder


def test_a_model_written_by_hand(tmp_path):
    folder = by_hand(tmp_path, cameras=CAMERAS.replace("\n", "\r\n"))
    scene = open_scene(folder)
    assert (scene.reference_name, scene.target_names) == ("a  b.png", ["c/d.png"])
    assert "disparity_range" not in scene.metadata  # one point is not enough
    assert scene.name == tmp_path.name
    model = read_model(folder / "sparse")
    np.testing.assert_array_equal(model.shots[1].camera.K, [[11, 0, 3.5], [0, 11, 2.5], [0, 0, 1]])
    assert [shot.points.tolist() for shot in model.shots] == [[7], [7]]


def test_images_of_lenses_are_undistorted(tmp_path):
    cameras = "1 OPENCV 8 6 10 10 4 3 -0.2 0.05 0.01 0.002\n2 SIMPLE_RADIAL_FISHEYE 8 6 11 4 3 0.02\n"
    folder = by_hand(tmp_path, cameras, IMAGES.replace("a  b.png", NAMES[0]))
    pictures = {name: np.random.default_rng(k).integers(0, 256, (6, 8, 3), np.uint8) for k, name in enumerate(NAMES)}
    for name, pixels in pictures.items():
        (folder / "images" / name).write_bytes(png.encode(pixels))
    scene = open_scene(folder)
    K = [np.array([[f, 0, 3.5], [0, f, 2.5], [0, 0, 1]]) for f in (10.0, 11.0)]
    lenses = ("brown", [-0.2, 0.05, 0.01, 0.002]), ("fisheye", [0.02])
    for view, name, matrix, lens in zip(scene.colours, NAMES, K, lenses, strict=True):
        undistorted = Undistortion(matrix, Distortion.of(*lens, "camera"), matrix, "camera")
        np.testing.assert_array_equal(np.moveaxis(view, 0, -1), undistorted.image(pictures[name], name))
    assert scene.metadata["undistorted"]["models"] == ["brown", "fisheye"]
    pycolmap = pytest.importorskip("pycolmap")
    model = pycolmap.Reconstruction()
    model.read_text(str(folder / "sparse"))
    for path in (folder / "sparse").iterdir():
        path.unlink()
    model.write_binary(str(folder / "sparse"))
    assert open_scene(folder).fingerprint() == scene.fingerprint()


@pytest.mark.parametrize("points", [None, "", "# none\n"])
def test_a_model_without_points(tmp_path, points):
    images = IMAGES.replace("1.5 2.5 7 3 3 -1", "").replace("\n3 3 7\n", "")  # the last line of all is missing
    assert open_scene(by_hand(tmp_path, images=images, points=points)).target_names == ["c/d.png"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "1 PINHOLE 8 6 10 10 4 3",
            "1 EUCM 8 6 10 10 4 3 0.5 1",
            r"camera 1: its model is EUCM, which is not among .*FOV.*image_undistorter",
        ),
        (
            "SIMPLE_PINHOLE 8 6 11 4 3",
            "SIMPLE_RADIAL 8 6 11 4 3",
            "camera 2: the model SIMPLE_RADIAL must have 4 finite",
        ),
        ("1 PINHOLE 8 6 10 10 4 3", "1 OPENCV 8 6 10 10 4 3 0 0 0", "the model OPENCV must have 8 finite"),
        ("1 PINHOLE 8 6 10 10 4 3", "1 OPENCV 8 6 10 10 4 3 0 0 0 inf", "'inf' is not a finite number"),
        ("1 PINHOLE 8 6 10 10 4 3", "1 OPENCV 8 6 10 10 4 3 -3 0 0 0", "camera 1: its lens .* folds .* k1 = -3"),
        ("8 6 10 10 4 3", "8 6 10 10 4", "the model PINHOLE must have 4 finite parameters"),
        ("8 6 10 10 4 3", "8 6", "must be CAMERA_ID MODEL"),
        ("8 6 10 10 4 3", "8 6 10 ten 4 3", "'ten' is not a finite number"),
        ("8 6 10 10 4 3", "8 6 10 nan 4 3", "'nan' is not a finite number"),
        ("8 6 10 10 4 3", "8 6 10 -10 4 3", "focal length -10 is not positive"),
        ("8 6 10 10 4 3", "8 0 10 10 4 3", "an image cannot have 8 x 0 pixels"),
        ("8 6 10 10 4 3", "8 6.5 10 10 4 3", "'6.5' is not a whole number"),
        ("8 6 10 10 4 3", "9 6 10 10 4 3", "have another size"),
        ("\n2 SIMPLE", "\n1 SIMPLE", "already a camera 1"),
        ("2 c/d.png", "3 c/d.png", "line 5: there is no camera 3"),
        ("2 c/d.png", "2", "line 5: must be IMAGE_ID"),
        ("c/d.png", "a  b.png", "'a  b.png' or its number is listed twice"),
        ("\n2 1 0", "\n1 1 0", "'c/d.png' or its number is listed twice"),
        ("c/d.png", "../d.png", "leaves the folder of images"),
        ("c/d.png", "/etc/d.png", "leaves the folder of images"),
        ("c/d.png", "c\\d.png", "leaves the folder of images"),
        ("c/d.png", "C:d.png", "leaves the folder of images"),
        ("2 1 0 0 0 -1", "2 2 0 0 0 -1", "line 5: the quaternion has the length 2"),
        ("2 1 0 0 0 -1", "2 0 0 0 0 -1", "the quaternion has the length 0"),
        ("2 1 0 0 0 -1", "2 1 0 0 0 inf", "'inf' is not a finite number"),
        ("3 3 7", "3 3", r"line 6: must be empty, or list the points X Y POINT3D_ID"),
        ("3 3 7", "3 3 7.5", r"line 6: must be empty, or list the points X Y POINT3D_ID"),
        ("3 3 7", "3 3 99999999999999999999", r"line 6: must be empty, or list the points X Y POINT3D_ID"),
        ("1.5 2.5 7 3 3 -1\n\n", "", "line 3: must be empty, or list the points"),
        ("7 0.5 0 5", "7 0.5 0", "points3D.txt, line 2: must be POINT3D_ID"),
        ("7 0.5 0 5", "7 0.5 0 x", "'x' is not a finite number"),
        (POINTS, POINTS + POINTS, "already a point 7"),
        ("3 3 7", "3 3 8", "share no point with it"),
        (IMAGES, "# nothing", "none of the model's 0 images"),
        (CAMERAS, "", "cameras.txt: is empty"),
        ("-1 0 0 2 c/d.png", "0 0 0 2 c/d.png", "stand at the same place"),
    ],
)
def test_refusals(tmp_path, old, new, said):
    assert any(old in text for text in (CAMERAS, IMAGES, POINTS))
    folder = by_hand(tmp_path, *(text.replace(old, new) for text in (CAMERAS, IMAGES, POINTS)))
    with pytest.raises(InputError, match=said) as caught:
        open_scene(folder)
    assert str(caught.value).startswith(str(folder))


@pytest.mark.parametrize("number", [0, -1, True, 2.0])
def test_numbers_of_neighbours(tmp_path, number):
    with pytest.raises(InputError, match="neighbours: "):
        open_scene(by_hand(tmp_path), neighbours=number)


def test_images_that_are_not_there(tmp_path):
    folder = by_hand(tmp_path)
    with pytest.raises(InputError, match=r"reference 'e\.png' is not one of its images"):
        open_scene(folder, reference="e.png")
    (folder / "images/c/d.png").unlink()
    with pytest.raises(InputError, match="1 are not in "):
        open_scene(folder)
    (folder / "images/a  b.png").unlink()
    with pytest.raises(InputError, match="none of the model's 2 images is in "):
        open_scene(folder)
    (folder / "images").rename(folder / "pictures")
    with pytest.raises(InputError, match="no folder images beside the model"):
        open_scene(folder)


@pytest.fixture(scope="module")
def kept_text(tmp_path_factory):
    return by_hand(tmp_path_factory.mktemp("text"))


@given(data=st.data())
def test_damaged_text_is_listed_or_refused(data, kept_text):
    path = kept_text / "sparse" / data.draw(st.sampled_from(["cameras.txt", "images.txt", "points3D.txt"]))
    text = path.read_text()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.one_of(st.integers(start, min(start + 3, len(text))), st.just(len(text))))
    put = data.draw(st.text("0123456789.-+eE_#nax/ \n\t\0\u2028", max_size=4))
    path.write_text(text[:start] + put + text[end:])
    try:
        result = value_or_refusal(kept_text, list_colmap, kept_text, Hints())
    finally:
        path.write_text(text)
    assert result is None or len(result.views) == 2


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A binary model, which every test leaves as it was."""
    return written(tmp_path_factory.mktemp("kept"))


@pytest.fixture
def binary(tmp_path):
    return written(tmp_path)


def written(folder):
    pycolmap = pytest.importorskip("pycolmap")
    by_hand(folder, images=IMAGES.replace("a  b", "a"))
    (folder / "images/a  b.png").rename(folder / "images/a.png")
    model = pycolmap.Reconstruction()
    model.read_text(str(folder / "sparse"))
    for path in (folder / "sparse").iterdir():
        path.unlink()
    model.write_binary(str(folder / "sparse"))
    return folder


def test_a_binary_file_cut_anywhere_is_refused(binary):
    """pycolmap itself accepts some of these and never returns from others."""
    for path in sorted((binary / "sparse").iterdir()):
        whole = path.read_bytes()
        for content in [whole[:k] for k in range(len(whole))] + [whole + b"\0", struct.pack("<Q", 2**40) + whole[8:]]:
            path.write_bytes(content)
            with pytest.raises(InputError) as caught:
                open_scene(binary)
            assert str(caught.value).startswith(str(path))
        path.write_bytes(whole)
    assert open_scene(binary).reference_name == "a.png"


@given(data=st.data())
def test_damaged_binary_is_read_or_refused(data, kept):
    folder = kept / "sparse"
    path = data.draw(st.sampled_from(sorted(folder.iterdir())))
    whole = path.read_bytes()
    changed = bytearray(whole)
    changed[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(changed)
    try:
        result = value_or_refusal(folder, read_model, folder)
    finally:
        path.write_bytes(whole)
    assert result is None or isinstance(result, Model)


def test_binary_refusals(binary, monkeypatch):
    cameras = binary / "sparse/cameras.bin"
    whole = cameras.read_bytes()
    for kind, name in ((12, "SIMPLE_DIVISION"), (99, "number 99")):
        cameras.write_bytes(whole[:12] + struct.pack("<i", kind) + whole[16:])
        with pytest.raises(InputError, match=rf"cameras\.bin, camera \d: its model is {name}.*image_undistorter"):
            open_scene(binary)
    cameras.write_bytes(whole)
    (binary / "sparse/points3D.bin").rename(binary / "points")
    with pytest.raises(InputError, match=r"points3D\.bin: there is no such file"):
        open_scene(binary)
    monkeypatch.setitem(sys.modules, "pycolmap", None)
    with pytest.raises(InputError, match=r"model_converter --output_type TXT") as refusal:
        open_scene(binary)
    assert refusal.value.remedy.startswith(f"{install_extra('colmap')}, or convert")
