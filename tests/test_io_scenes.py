"""Middlebury folders, patterns, and how the format of a path is recognised."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from gradcon import Options, estimate
from gradcon.errors import InputError
from gradcon.io import open_scene
from gradcon.io.formats.hci import write_hci
from gradcon.io.formats.lightfield_array import save_lightfield
from gradcon.io.formats.rig import write_rig
from gradcon.io.images import png

GREY = np.random.default_rng(0).integers(0, 256, (6, 8), dtype=np.uint8)


def put(folder, *names, height=6, width=8):
    """Write different images under these names: PNG if they end in .png, otherwise PNM."""
    folder.mkdir(exist_ok=True)
    for k, name in enumerate(names):
        image = np.random.default_rng(k).integers(0, 256, (height, width), dtype=np.uint8)
        content = png.encode(image) if name.endswith(".png") else b"P5 %d %d 255\n" % (width, height) + image.tobytes()
        (folder / name).write_bytes(content)
    return folder


def put_map(folder, name, height=6, width=8, value=120):
    grey = np.full((height, width), value, np.uint8)
    grey[0, 0] = 0
    content = png.encode(grey) if name.endswith(".png") else b"P5 %d %d 255\n" % (width, height) + grey.tobytes()
    (folder / name).write_bytes(content)


@pytest.mark.parametrize(("height", "factor"), [(370, 3), (555, 2), (1110, 1)])
def test_middlebury_2006(tmp_path, height, factor):
    put(tmp_path, *(f"view{k}.png" for k in range(7)), height=height, width=9)
    put_map(tmp_path, "disp1.png", height, 9)
    scene = open_scene(tmp_path)
    assert scene.reference_name == "view1.png"
    assert sorted(scene.baselines[:, 0]) == [-5, -4, -3, -2, -1, 1]  # seen at x - D (k - 1) in view k
    assert not scene.baselines[:, 1].any()
    assert np.isnan(scene.ground_truth[0, 0])
    np.testing.assert_allclose(scene.ground_truth[1:], 120 / factor / 4)


@pytest.mark.parametrize(("height", "factor"), [(375, 4), (750, 2), (1500, 1), (383, 8)])
def test_middlebury_2001_and_2003(tmp_path, height, factor):
    put(tmp_path, *(f"im{k}.ppm" for k in range(9)), height=height, width=9)
    put_map(tmp_path, "disp2.pgm", height, 9)
    put_map(tmp_path, "disp6.pgm", height, 9, value=60)
    scene = open_scene(tmp_path, views=3)
    assert scene.reference_name == "im2.ppm"
    assert scene.baselines.tolist() in ([[1, 0], [-1, 0]], [[-1, 0], [1, 0]])
    np.testing.assert_allclose(scene.ground_truth[1:], 120 / factor / 4)
    other = open_scene(tmp_path, reference="im6.ppm")
    np.testing.assert_allclose(other.ground_truth[1:], 60 / factor / 4)
    np.testing.assert_allclose(open_scene(tmp_path, size_factor=5).ground_truth[1:], 120 / 5 / 4)


def test_middlebury_with_two_views(tmp_path):
    put(tmp_path, "view1.png", "view5.png")
    assert open_scene(tmp_path).baselines.tolist() == [[-4, 0]]
    put_map(tmp_path, "disp1.png")
    with pytest.raises(InputError, match=r"disp1\.png: is 6 pixels high.*give the size_factor"):
        open_scene(tmp_path)
    np.testing.assert_allclose(open_scene(tmp_path, size_factor=2).ground_truth[1:], 15)
    for bad in (0, -1, np.nan):
        with pytest.raises(InputError, match="size_factor"):
            open_scene(tmp_path, size_factor=bad)
    put(tmp_path, "view1.ppm")
    with pytest.raises(InputError, match=r"view1\.ppm: stands for the same view as view1\.png"):
        open_scene(tmp_path)
    (tmp_path / "view1.ppm").unlink()
    (tmp_path / "view1.png").unlink()
    with pytest.raises(InputError, match=r"view1\.png is missing"):
        open_scene(tmp_path)
    with pytest.raises(InputError, match="holds only one view"):
        open_scene(tmp_path, reference="view5.png")


def test_a_map_in_colour_is_refused(tmp_path):
    put(tmp_path, "view0.png", "view1.png")
    (tmp_path / "disp1.png").write_bytes(png.encode(np.zeros((6, 8, 3), np.uint8)))
    with pytest.raises(InputError, match=r"disp1\.png: is not a grey image"):
        open_scene(tmp_path, size_factor=1)


def test_pattern_of_rows_and_columns(tmp_path):
    names = [f"x[1]_{row:02d}_{col:02d}.png" for row, col in [(1, 5), (5, 1), (5, 5), (5, 9), (9, 5), (4, 5)]]
    put(tmp_path, *names, "x1_05_06.png", "notes.txt")
    scene = open_scene(tmp_path, pattern="x[1]_{row}_{col}.png")
    assert scene.reference_name == "x[1]_05_05.png"
    assert sorted(map(tuple, scene.baselines)) == [(-4, 0), (0, -4), (0, 1), (0, 4), (4, 0)]
    scene = open_scene(tmp_path, pattern="x[1]_{row}_{col}.png", reference=names[0], views=2)
    assert scene.baselines.tolist() == [[0, -3]]


@pytest.mark.parametrize(
    ("pattern", "names", "reference", "baselines"),
    [
        ("{col}.png", ["1.png", "2.png", "3.png"], "2.png", [[-1, 0], [1, 0]]),
        ("{row}.png", ["1.png", "2.png", "3.png"], "2.png", [[0, -1], [0, 1]]),
        ("a{col}.png", ["a1.png", "a2.png"], "a2.png", [[1, 0]]),  # of two equals, the one to the right
        ("a{col}.png", ["a09.png", "a10.png", "a12.png"], "a10.png", [[-2, 0], [1, 0]]),
        (
            "{col}-{row}.png",
            ["3-1.png", "4-1.png", "5-1.png", "5-2.png"],
            "4-1.png",
            [[-1, -1], [-1, 0], [1, 0]],
        ),
    ],
)
def test_the_middle_of_a_pattern(tmp_path, pattern, names, reference, baselines):
    scene = open_scene(put(tmp_path, *names), pattern=pattern)
    assert scene.reference_name == reference
    assert sorted(scene.baselines.tolist()) == baselines


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("view.png", "has no {row} or {col}"),
        ("", "has no {row} or {col}"),
        ("{x}.png", "has no {row} or {col}"),
        ("{row}_{row}.png", "names a field twice"),
        ("{row}{col}.png", "nothing between"),
        ("a/{row}.png", "names a folder"),
        ("b{row}.png", "no file matches"),
        ("1{row}.png", "only one file matches"),
        ("0{row}.jpg", "no file matches"),
        ("{row}.png", r"1\.png: stands for the same view as 01\.png"),
    ],
)
def test_bad_patterns(tmp_path, pattern, said):
    put(tmp_path, "01.png", "1.png", "12.png")
    with pytest.raises(InputError, match=said):
        open_scene(tmp_path, pattern=pattern)


def test_how_a_path_is_recognised(tmp_path):
    image = np.random.default_rng(0).integers(0, 256, (9, 9, 6, 8), dtype=np.uint8)
    folder = write_hci(tmp_path / "s", image)
    put(folder, "view1.png", "view2.png")
    assert open_scene(folder).metadata["format"] == "hci"
    assert open_scene(folder, pattern="view{col}.png").metadata["format"] == "pattern"
    pictures = {"a.png": image[0, 0], "b.png": image[0, 1]}
    write_rig(folder, pictures, [(0, 0), (1, 0)], reference="a.png")
    assert open_scene(str(folder)).metadata["format"] == "rig"
    assert open_scene(folder / "rig.toml").name == "s"
    (empty := tmp_path / "empty").mkdir()
    for path, options, said in (
        (tmp_path / "gone", {}, "no such folder or file"),
        (tmp_path / "a\0b", {}, "no such folder or file"),
        (folder / "a.png", {}, "is a single image, which cannot be opened as a scene by itself"),
        (tmp_path, {}, r"holds no rig\.toml, no input_Cam040\.png .* give a pattern"),
        (folder, {"size_factor": 2}, "size_factor .--size-factor. means nothing"),
        (folder / "rig.toml", {"pattern": "{row}.png"}, "a pattern is for a folder"),
        (empty, {}, "is an empty folder"),
        (folder, {"views": "some"}, "views: 'some'"),
        (folder, {"views": 1}, "views: 1"),
        (folder, {"views": 99}, "views: 99"),
        (folder, {"reference": "c.png"}, "reference 'c.png'"),
    ):
        with pytest.raises(InputError, match=said):
            open_scene(path, **options)


@pytest.mark.parametrize("content", [b"", b"nothing", png.encode(GREY)[:-20], png.encode(GREY)[:50]])
def test_a_bad_image_is_named(tmp_path, content):
    put(tmp_path, "1.png", "2.png", "3.png")
    (tmp_path / "3.png").write_bytes(content)
    with pytest.raises(InputError, match=r"3\.png: "):
        open_scene(tmp_path, pattern="{col}.png")


def test_views_with_nan_or_of_another_size_are_named(tmp_path):
    import tifffile

    put(tmp_path, "1.png", "2.png")
    put(tmp_path, "3.png", height=5)
    with pytest.raises(InputError, match=r"3\.png: is 8 x 5 pixels but 2\.png is 8 x 6"):
        open_scene(tmp_path, pattern="{col}.png")
    for k in (1, 2):
        tifffile.imwrite(tmp_path / f"{k}.tif", np.full((6, 8), np.nan if k == 1 else 1.0, np.float32))
    with pytest.raises(InputError, match=r"1\.tif: 48 pixel values are NaN"):
        open_scene(tmp_path, pattern="{col}.tif")


def test_pipes_are_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "lf.h5")
    with pytest.raises(InputError, match="is neither a file nor a folder"):
        open_scene(tmp_path / "lf.h5")
    store = save_lightfield(tmp_path / "lf.zarr", np.ones((2, 2, 6, 8), np.uint8))
    chunk = store / "views/c/0/0/0/0"
    chunk.unlink()
    os.mkfifo(chunk)
    with pytest.raises(InputError, match=r"views/c/0/0/0/0 is not a regular file"):
        open_scene(store)
    chunk.unlink()
    chunk.symlink_to(chunk)
    with pytest.raises(InputError, match=r"views/c/0/0/0/0 is not a regular file"):
        open_scene(store)


def test_file_names_that_are_not_text_can_be_written(tmp_path):
    folder = tmp_path / os.fsdecode(b"shots\xff")
    put(folder, os.fsdecode(b"\xfe_0_0.png"), os.fsdecode(b"\xfe_0_1.png"))
    scene = open_scene(folder)
    assert scene.name == r"shots\udcff"
    estimate(scene, Options("gcm", solves=1), engine="reference").save(tmp_path / "out")
    assert r"\udcfe_0_1.png" in json.loads((tmp_path / "out/result.json").read_text())["source"]["reference"]


def test_a_reference_number_too_large_for_a_float(tmp_path):
    store = save_lightfield(tmp_path / "lf.zarr", np.ones((2, 2, 6, 8), np.uint8), reference=(0, 0))
    meta = store / "zarr.json"
    meta.write_text(meta.read_text().replace('"reference": [', '"reference": [1' + 400 * "0" + ","))
    with pytest.raises(InputError, match=r"lf\.zarr: its reference \[1000"):
        open_scene(store)


def test_other_files_beside_the_views_do_not_hide_them(tmp_path):
    names = [f"shot_{row}_{column}.png" for row in range(2) for column in range(2)]
    put(tmp_path, *names, "contact-sheet.png", "scan2.png")
    (tmp_path / "notes.txt").write_text("shots of 1_1_2020")
    (tmp_path / "out_1_2").mkdir()
    assert len(open_scene(tmp_path).targets) == 3
    put(tmp_path, "other_0_0.png")  # now it is unclear which of the two is meant
    with pytest.raises(InputError, match="not recognised"):
        open_scene(tmp_path)
