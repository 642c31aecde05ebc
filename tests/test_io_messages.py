"""Files that are almost right: suffixes in capitals are accepted, and errors name the right file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from gradcon import open_frames, open_scene, synth
from gradcon.errors import InputError
from gradcon.io.formats.rig import write_rig
from gradcon.io.images import read_image
from gradcon.io.pfm import write_pfm
from test_video_files import encode, noise

IMAGES = np.random.default_rng(0).integers(0, 256, (3, 16, 20), dtype=np.uint8)


def in_capitals(folder: Path) -> None:
    for path in list(folder.iterdir()):
        path.rename(path.with_suffix(path.suffix.upper()))


# ------------------------------------------------------------------------------------- suffixes in capitals


@pytest.mark.parametrize("reference", [None, "input_Cam041"])
def test_hci_in_capitals(tmp_path: Path, reference: str | None) -> None:
    synth.write("occlusion", tmp_path / "lf", size=(24, 32), views="cross")
    write_pfm(tmp_path / "lf" / "gt_disp_lowres_Cam041.pfm", np.full((24, 32), 0.25))
    before = open_scene(tmp_path / "lf", reference=reference and f"{reference}.png")
    in_capitals(tmp_path / "lf")
    after = open_scene(tmp_path / "lf", reference=reference and f"{reference}.PNG")
    assert after.fingerprint() == before.fingerprint()
    assert after.name == before.name == "occlusion"
    np.testing.assert_array_equal(after.ground_truth, before.ground_truth)
    np.testing.assert_array_equal(after.calibration.K, before.calibration.K)


def test_middlebury_in_capitals(tmp_path: Path) -> None:
    for k in range(3):
        Image.fromarray(np.full((370, 20), 40 + k, np.uint8)).save(tmp_path / f"view{k}.png")
    Image.fromarray(np.full((370, 20), 30, np.uint8)).save(tmp_path / "disp1.png")
    (tmp_path / "dmin.txt").write_text("270")
    in_capitals(tmp_path)
    scene = open_scene(tmp_path)
    assert scene.metadata["format"] == "middlebury"
    assert scene.reference_name == "view1.PNG"
    assert scene.ground_truth == pytest.approx(2.5)
    assert scene.calibration is not None


def test_a_rig_in_capitals(tmp_path: Path) -> None:
    write_rig(tmp_path, {"a.png": IMAGES[0], "b.png": IMAGES[1]}, [(0, 0), (1, 0)], reference="a.png")
    (tmp_path / "rig.toml").rename(tmp_path / "rig.TOML")
    assert open_scene(tmp_path).metadata["format"] == "rig"
    assert open_scene(tmp_path / "rig.TOML").metadata["format"] == "rig"


def test_both_spellings_of_one_view_are_refused(tmp_path: Path) -> None:
    synth.write("occlusion", tmp_path / "lf", size=(24, 32), views="cross")
    (tmp_path / "lf" / "input_Cam041.PNG").write_bytes((tmp_path / "lf" / "input_Cam041.png").read_bytes())
    with pytest.raises(InputError, match="stands for the same view"):
        open_scene(tmp_path / "lf")


# ------------------------------------------------------------------------------------- truth of another size


def test_truth_of_another_size_is_named_by_its_file(tmp_path: Path) -> None:
    hci, rig, middlebury = tmp_path / "hci", tmp_path / "rig", tmp_path / "middlebury"
    synth.write("occlusion", hci, size=(24, 32), views="cross")
    write_pfm(hci / "gt_disp_lowres.pfm", np.zeros((48, 64)))
    write_rig(
        rig, {"a.png": IMAGES[0], "b.png": IMAGES[1]}, [(0, 0), (1, 0)], reference="a.png", ground_truth=IMAGES[0]
    )
    write_pfm(rig / "ground_truth.pfm", np.zeros((8, 10)))
    middlebury.mkdir()
    for k in range(3):
        Image.fromarray(np.full((370, 20), 40 + k, np.uint8)).save(middlebury / f"view{k}.png")
    Image.fromarray(np.full((370, 21), 30, np.uint8)).save(middlebury / "disp1.png")
    for path, sizes in (
        (hci / "gt_disp_lowres.pfm", r"64 x 48 pixels but input_Cam040\.png is 32 x 24"),
        (rig / "ground_truth.pfm", r"10 x 8 pixels but a\.png is 20 x 16"),
        (middlebury / "disp1.png", r"21 x 370 pixels but view1\.png is 20 x 370"),
    ):
        with pytest.raises(InputError, match=rf"^{path}: the ground truth is {sizes}"):
            open_scene(path.parent)


# ------------------------------------------------------------------------------------- messages about a file


@pytest.mark.parametrize("compression", ["jpeg", "tiff_jpeg", "lzma"])
def test_a_tiff_of_another_compression(tmp_path: Path, compression: str) -> None:
    path, pixels = tmp_path / "a.tif", np.stack([IMAGES[0]] * 3, -1)
    if compression == "lzma":  # Pillow may silently omit this compression
        tifffile.imwrite(path, pixels, photometric="rgb", compression=compression)
    else:
        Image.fromarray(pixels).save(path, compression=compression)
    name = compression.removeprefix("tiff_").upper()
    with pytest.raises(
        InputError, match=rf"^{path}: is a TIFF compressed by \w*{name}, which is not supported; compress it by deflate"
    ):
        read_image(path)


def test_numpy_files_of_format_3(tmp_path: Path) -> None:
    views = np.random.default_rng(0).integers(0, 256, (3, 3, 16, 20), dtype=np.uint8)
    path = tmp_path / "lf.npy"
    with open(path, "wb") as file:
        np.lib.format.write_array(file, views, version=(3, 0))
    np.testing.assert_array_equal(open_scene(path).colour, views[1, 1])
    records = np.zeros((3, 3, 16, 20), [("漢", "u1"), ("b", "u1")])
    with open(path, "wb") as file:
        np.lib.format.write_array(file, records, version=(3, 0))
    with pytest.raises(InputError, match="holds values of the type"):
        open_scene(path)
    np.save(path, views)
    path.write_bytes(path.read_bytes().replace(b"NUMPY\x01", b"NUMPY\x07"))
    with pytest.raises(InputError, match=r"lf\.npy: "):
        open_scene(path)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.8, 0.95])
def test_a_truncated_matroska_file_is_reported_as_truncated(tmp_path: Path, share: float) -> None:
    for k in range(2):
        encode(tmp_path / f"cam_0_{k}.mkv", noise(12, (48, 64)))
    path = tmp_path / "cam_0_1.mkv"
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(InputError, match=r"cam_0_1\.mkv: .*(truncated|frames)") as caught:
        list(open_frames(tmp_path))
    assert "permissions" not in str(caught.value)


def test_what_a_file_makes_long_is_shortened() -> None:
    said = str(InputError("folder/" + "f" * 5000, f"holds {'x' * 5000}", f"use one of {'y' * 5000}, z"))
    assert len(said) < 3000
    assert said.startswith("folder/fff")
    assert said.endswith("y, z.")
