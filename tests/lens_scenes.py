"""Scenes seen through lenses with a known distortion, for the tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from gradcon import Scene, synth
from gradcon.engines.reference import sample_cubic
from gradcon.io import pfm
from gradcon.io.images import png
from gradcon.lens import Distortion
from gradcon.scene.geometry import Floats

FINER = 3  # pixels of the rendered image along each axis for one of the distorted image
BLUR = 0.35 * FINER  # what the pixels of a sensor average
INVERSIONS = 40


def through_lens(finer: NDArray[np.uint8], K: Floats, distortion: Distortion) -> NDArray[np.uint8]:
    """Return what a lens makes of a pinhole camera's view, which is FINER times as large."""
    height, width = (n // FINER for n in finer.shape[:2])
    v, u = np.indices((height, width), dtype=float)
    rays = np.stack([u, v, np.ones_like(u)], axis=-1) @ np.linalg.inv(K).T
    a, b = wanted = rays[..., 0], rays[..., 1]
    for _ in range(INVERSIONS):
        x, y = distortion.distorted(a, b)
        a, b = a + wanted[0] - x, b + wanted[1] - y
    x, y = K[0, 0] * a + K[0, 2], K[1, 1] * b + K[1, 2]
    smooth = gaussian_filter(np.moveaxis(finer, -1, 0).astype(float), (0, BLUR, BLUR), mode="nearest")
    middle = (FINER - 1) / 2  # of the finer pixels that make one
    ends = np.array(finer.shape[1::-1]) - 1.0
    seen = (FINER * place + middle for place in (x, y))
    at = [np.clip(place, 0, end) for place, end in zip(seen, ends, strict=True)]
    return np.uint8(np.rint(np.clip(np.moveaxis(sample_cubic(smooth, *at), 0, -1), 0, 255)))


def write_distorted(folder: Path, name: str, size: tuple[int, int], model: str, parameters: Any) -> Scene:
    """Write a synthetic scene as seen through a lens, with its rig.toml; return it as it would be without the lens."""
    finer = synth.render(name, (FINER * size[0], FINER * size[1]), grid=3, views="all")
    plain = synth.render(name, size, grid=3, views="all")
    distortion = Distortion.of(model, parameters, "the lens")
    cameras = plain.metadata["cameras"]
    straight = Distortion.of("brown", (0.0,), "no lens")
    lines = [f'reference = "{plain.reference_name}"', 'ground_truth = "truth.pfm"', 'unit = "m"']
    lines += [f'lens = "{model}"', f"distortion = {list(parameters)}"]
    images = []
    for view, image in zip([finer.reference_name, *finer.target_names], finer.colours, strict=True):
        camera, rendered = cameras[view], np.moveaxis(image, 0, -1)
        K = np.array(camera["K"])
        (folder / view).write_bytes(png.encode(through_lens(rendered, K, distortion)))
        images.append(through_lens(rendered, K, straight))
        lines += ["[[views]]", f'image = "{view}"', *(f"{part} = {camera[part]}" for part in "KRt")]
    (folder / "rig.toml").write_text("\n".join(lines))
    assert plain.ground_truth is not None
    (folder / "truth.pfm").write_bytes(pfm.encode(plain.ground_truth))
    return Scene(
        images[0],
        images[1:],
        transforms=(plain.M, plain.m),
        ground_truth=plain.ground_truth,
        calibration=plain.calibration,
        name=name,
    )
