"""Scenes that describe their cameras in files of their own: rig.toml, COLMAP, the HCI benchmark, Middlebury."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from fuzz.sample import Sample, written
from fuzz.samples.arrays import PARAMETERS
from fuzz.samples.images import GREY, SIZE, pixels
from gradcon.io import pfm
from gradcon.io.images import png

VIEWS = {f"{name}.png": png.encode(pixels(GREY, seed=k)) for k, name in enumerate("abc")}
BASELINES = """\
name = "three"
reference = "a.png"
ground_truth = "truth.pfm"

[[views]]
image = "a.png"
baseline = [0, 0]

[[views]]
image = "b.png"
baseline = [-1, 0]

[[views]]
image = "c.png"
baseline = [0.5, -2.25]
"""
CAMERAS = """\
reference = "b.png"
unit = "mm"
K = [[10, 0, 3.5], [0, 10, 3.5], [0, 0, 1]]

[[views]]
image = "a.png"
R = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
t = [0.0, 0.0, 0.0]

[[views]]
image = "b.png"
R = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
t = [-0.1, 0, 0]
K = [[10.5, 0, 3.25], [0, 10.5, 3.5], [0, 0, 1]]
"""
LENSES = """\
reference = "a.png"
K = [[10, 0, 3.5], [0, 10, 3.5], [0, 0, 1]]
distortion = [-0.2, 0.05, 0.001, -0.001, 0.01]

[[views]]
image = "a.png"
baseline = [0, 0]

[[views]]
image = "b.png"
baseline = [-1, 0]
lens = "fisheye"
distortion = [0.02, -0.01, 0, 0]
undistorted_K = [[10, 0, 3.5], [0, 10, 3.5], [0, 0, 1]]
"""


def rig() -> list[Sample]:
    truth = {"truth.pfm": pfm.encode(np.ones(GREY, np.float32))}
    return [
        Sample({"rig.toml": BASELINES.encode(), **VIEWS, **truth}, "scene", mutated=("rig.toml",)),
        Sample({"rig.toml": CAMERAS.encode(), **VIEWS}, "scene", mutated=("rig.toml",)),
        Sample({"rig.toml": LENSES.encode(), **VIEWS}, "scene", mutated=("rig.toml",)),
    ]


def hci() -> list[Sample]:
    from gradcon import write_hci

    def write(folder: Path) -> None:
        write_hci(folder, pixels((1, 3, *GREY)), np.ones(GREY), PARAMETERS)

    return [Sample(written(write), "scene", mutated=("parameters.cfg", "gt_disp_lowres.pfm"))]


def middlebury() -> list[Sample]:
    views = {f"view{k}.png": png.encode(pixels(GREY, seed=k)) for k in range(3)}
    images = {f"im{k}.ppm": b"P6 8 8 255\n" + pixels((SIZE, SIZE, 3), seed=k).tobytes() for k in range(3)}
    truth = png.encode(pixels(GREY))
    grey = b"P5 8 8 255\n" + pixels(GREY).tobytes()
    return [
        Sample({**views, "dmin.txt": b"30\n"}, "scene", mutated=("dmin.txt",)),
        Sample({**views, "dmin.txt": b"30\n", "disp1.png": truth}, "third size", mutated=("dmin.txt", "disp1.png")),
        Sample({**images, "disp2.pgm": grey}, "scene", mutated=("disp2.pgm", "im0.ppm")),
    ]


def colmap() -> list[Sample]:
    images = {f"images/{name}": content for name, content in VIEWS.items()}
    cameras = "# comment\n1 OPENCV 8 8 10 10 4 4 -0.1 0.02 0 0\n2 SIMPLE_PINHOLE 8 8 11 4 4\n"
    shots = "# comment\n1 1 0 0 0 0 0 0 1 a.png\n1.5 2.5 7 3 3 -1\n2 1 0 0 0 -1 0 0 2 b.png\n3 3 7\n"
    text = {"cameras.txt": cameras, "images.txt": shots, "points3D.txt": "7 0.5 0 5 255 0 0 0.1 1 0 2 0\n"}
    binary = {"cameras.bin": _cameras(), "images.bin": _images(), "points3D.bin": _points()}
    models = [{name: content.encode() for name, content in text.items()}, binary]
    return [
        Sample(
            {**images, **{f"sparse/{name}": content for name, content in model.items()}},
            "scene",
            mutated=tuple(f"sparse/{name}" for name in model),
        )
        for model in models
    ]


def _cameras() -> bytes:
    simple, pinhole = 0, 1
    one = struct.pack("<IiQQ4d", 1, pinhole, SIZE, SIZE, 10, 10, 4, 4)
    return struct.pack("<Q", 2) + one + struct.pack("<IiQQ3d", 2, simple, SIZE, SIZE, 11, 4, 4)


def _images() -> bytes:
    def image(number: int, x: float, camera: int, name: bytes) -> bytes:
        head = struct.pack("<I7dI", number, 1, 0, 0, 0, x, 0, 0, camera) + name + b"\0"
        return head + struct.pack("<Qddq", 1, 3, 3, 7)

    return struct.pack("<Q", 2) + image(1, 0, 1, b"a.png") + image(2, -1, 2, b"b.png")


def _points() -> bytes:
    return struct.pack("<QQ3d3BdQ4I", 1, 7, 0.5, 0, 5, 255, 0, 0, 0.1, 2, 1, 0, 2, 0)
