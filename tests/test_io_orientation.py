"""Images that are stored rotated are refused, whatever the format; upright ones are read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tifffile
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from gradcon.errors import InputError
from gradcon.io.images import read_image
from gradcon.io.images.orientation import orientation

PICTURE = np.random.default_rng(0).integers(0, 256, (24, 32, 3), dtype=np.uint8)
ORIENTATION = 0x0112


def exif(way_up: int) -> Image.Exif:
    tags = Image.Exif()
    tags[0x010F] = "a camera"  # stands before it
    tags[ORIENTATION] = way_up
    return tags


def write(path: Path, way_up: int) -> Path:
    if path.suffix == ".tif":
        tags = [(ORIENTATION, "H", 1, way_up, True)]
        tifffile.imwrite(path, PICTURE, photometric="rgb", extratags=tags, bigtiff="big" in path.stem)
    else:
        Image.fromarray(PICTURE).save(path, exif=exif(way_up))
    return path


@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.tif", "big.tif"])
@pytest.mark.parametrize("way_up", range(2, 9))
def test_rotated_images_are_refused(tmp_path: Path, name: str, way_up: int) -> None:
    path = write(tmp_path / name, way_up)
    with pytest.raises(InputError, match=rf"^{path}: is stored rotated \(orientation {way_up}\).*mogrify -auto-orient"):
        read_image(path)


@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.tif", "big.tif"])
@pytest.mark.parametrize("way_up", [0, 1, 9, 255])  # viewers ignore values outside the standard
def test_upright_images_are_read(tmp_path: Path, name: str, way_up: int) -> None:
    assert read_image(write(tmp_path / name, way_up)).shape == PICTURE.shape


def test_big_endian_exif_is_understood(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "a.tif", PICTURE, byteorder=">", extratags=[(ORIENTATION, "H", 1, 6, True)])
    with pytest.raises(InputError, match="orientation 6"):
        read_image(tmp_path / "a.tif")


@given(st.binary(max_size=60), st.sampled_from([b"", b"II*\0", b"MM\0*", b"II+\0\x08\0\0\0"]))
def test_any_block_gives_an_orientation(block: bytes, head: bytes) -> None:
    assert orientation(head + block) >= 0
