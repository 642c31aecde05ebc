"""Small files that would fill the memory are refused before they are unpacked, and a stated limit lets them in."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gradcon.cli import main
from gradcon.damage import LIMIT_VARIABLE, parse_size, shown
from gradcon.errors import InputError
from gradcon.io.images import png, read_image
from gradcon.io.maps import read_map
from gradcon.npz import open_npz

ALLOWED = 200 * 2**20  # bytes by which a process that refuses a file may grow

PROBE = """
import json, re, sys
from pathlib import Path
from gradcon.errors import InputError
from gradcon import open_scene, read_map
from gradcon.io.images import read_image
import PIL.PngImagePlugin, tifffile
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024
before = peak()
try:
    {"image": read_image, "map": read_map, "scene": open_scene}[sys.argv[1]](sys.argv[2])
    said = ""
except InputError as error:
    said = str(error)
print(json.dumps([said, peak() - before]))
"""


def zeros(count: int) -> bytes:
    """Compress many zeros without ever holding them."""
    packer, piece = zlib.compressobj(9), bytes(2**20)
    whole = b"".join(packer.compress(piece) for _ in range(count // 2**20))
    return whole + packer.compress(bytes(count % 2**20)) + packer.flush()


def png_bomb(path: Path, side: int, depth: int, colour: int) -> Path:
    header = png.Header(side, side, depth, colour, bytes(3))
    pixels = zeros(header.raw_bytes() + side)
    path.write_bytes(png.SIGNATURE + header.chunk() + png._chunk(b"IDAT", pixels) + png._chunk(b"IEND", b""))
    return path


def npz_bomb(path: Path, name: str, shape: tuple[int, ...], dtype: str) -> Path:
    text = repr({"descr": dtype, "fortran_order": False, "shape": shape}).encode() + b"\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(f"{name}.npy", "w") as member:
        member.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text)
        left = int(np.prod(shape)) * np.dtype(dtype).itemsize
        while left:
            left -= member.write(bytes(min(left, 2**20)))
    return path


def tiff_of_wide_tags(path: Path) -> Path:
    """A TIFF whose ImageWidth is a list, by which a product would repeat it."""
    tags = [(256, 4, 50, 8), (257, 4, 1, 2**24), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1)]
    tags += [(273, 4, 1, 8), (277, 3, 1, 1), (278, 4, 1, 2**24), (279, 4, 1, 200)]
    directory = struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", *tag) for tag in tags) + bytes(4)
    path.write_bytes(b"II*\0" + struct.pack("<I", 208) + bytes(200) + directory)
    return path


BOMBS: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "8-bit PNG": ("image", lambda folder: png_bomb(folder / "a.png", 10_000, 8, png.RGB)),
    "16-bit PNG": ("image", lambda folder: png_bomb(folder / "a.png", 8_000, 16, png.RGB)),
    "TIFF": ("image", lambda folder: tiff_of_wide_tags(folder / "a.tif")),
    "map in a TIFF": ("map", lambda folder: tiff_of_wide_tags(folder / "a.tif")),
    "views": ("scene", lambda folder: npz_bomb(folder / "a.npz", "views", (3, 12_000, 12_000), "|u1")),
    "map": ("map", lambda folder: npz_bomb(folder / "a.npz", "disparity", (10_000, 10_000), "<f4")),
}


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
@pytest.mark.parametrize("bomb", BOMBS)
def test_bombs_are_refused_without_their_memory(tmp_path: Path, bomb: str) -> None:
    kind, make = BOMBS[bomb]
    path = make(tmp_path)
    assert path.stat().st_size < 2**20
    environment = {name: value for name, value in os.environ.items() if name != LIMIT_VARIABLE}
    command = [sys.executable, "-c", PROBE, kind, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    said, grown = json.loads(done.stdout)
    assert said.startswith(str(path))
    assert ("--memory-limit" in said) is ("TIFF" not in bomb)
    assert grown < ALLOWED


def test_a_stated_limit_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = png_bomb(tmp_path / "a.png", 1000, 8, png.RGB)
    assert read_image(path).shape == (1000, 1000, 3)
    monkeypatch.setenv(LIMIT_VARIABLE, "1M")
    with pytest.raises(
        InputError, match=r"of memory, but at most 1\.0 MB are allowed; .*GRADCON_MEMORY_LIMIT="
    ) as told:
        read_image(path)
    monkeypatch.setenv(LIMIT_VARIABLE, told.value.remedy.partition("--memory-limit ")[2].split()[0])
    assert read_image(path).shape == (1000, 1000, 3)


def test_a_limit_lets_in_what_packs_suspiciously_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = npz_bomb(tmp_path / "a.npz", "disparity", (8400, 8400), "<f4")  # 269 MB
    monkeypatch.delenv(LIMIT_VARIABLE, raising=False)
    with pytest.raises(InputError, match="as if it were made to fill the memory; if you trust it"):
        read_map(path)
    monkeypatch.setenv(LIMIT_VARIABLE, "2G")
    assert read_map(path).values.shape == (8400, 8400)


def test_a_large_photograph_is_read(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (4000, 6000, 3), dtype=np.uint8)
    (tmp_path / "a.png").write_bytes(png.encode(noise))
    assert np.array_equal(read_image(tmp_path / "a.png"), noise)


def test_the_option(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LIMIT_VARIABLE, raising=False)
    source = npz_bomb(tmp_path / "a.npz", "disparity", (1000, 1000), "<f4")
    command = ["convert", str(source), str(tmp_path / "b.tif")]
    assert main(["--memory-limit", "1M", *command]) == 2
    assert "takes 3.9 MB of memory, but at most 1.0 MB are allowed" in capsys.readouterr().err
    assert LIMIT_VARIABLE not in os.environ
    assert main(["--memory-limit", "1G", *command]) == 0
    for wrong in ("much", "0", "-1", ""):
        assert main(["--memory-limit", wrong, *command]) == 2
        assert capsys.readouterr().err.endswith("is not a size; give one such as 500M or 16G.\n")


@pytest.mark.parametrize("size", [1, 999, 1024, 10**6, 1023 * 2**20, 7 * 2**30 + 1, 3 * 2**40])
def test_a_size_that_is_shown_is_enough(size: int) -> None:
    assert size <= parse_size(shown(size).replace(" ", ""), "limit") <= 1.2 * size


def test_text_beyond_unicode(tmp_path: Path) -> None:
    for order in "<>":
        name = np.array(["abc"]).astype(f"{order}U3")
        np.savez(tmp_path / "a.npz", name=name)
        content = (tmp_path / "a.npz").read_bytes()
        assert open_npz(tmp_path / "a.npz")["name"].read().tolist() == ["abc"]
        values = np.array([2**31] * 3, f"{order}u4").view(f"{order}U3")
        np.savez(tmp_path / "b.npz", name=values)
        assert len((tmp_path / "b.npz").read_bytes()) == len(content)
        with pytest.raises(InputError, match=r"b\.npz, name: holds a text with characters that do not exist"):
            open_npz(tmp_path / "b.npz")["name"].read()


def test_an_archive_of_too_many_members(tmp_path: Path) -> None:
    path, member = tmp_path / "a.npz", b"PK\1\2" + bytes(24) + struct.pack("<H", 60_000) + bytes(16) + bytes(60_000)
    directory = member * 150
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 150, 150, len(directory), 0, 0)
    path.write_bytes(directory + end)
    with pytest.raises(InputError, match=f"^{path}: its list of members takes more than the 8,388,608 bytes"):
        open_npz(path)
