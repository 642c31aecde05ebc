"""Folders of results for the tests of the page: small real ones, and a large invented one."""

from __future__ import annotations

import functools
import io
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from gradcon import Options, estimate, synth
from gradcon.io.pfm import write_pfm

SIZE = 96
SOLVES = 9


_ROOT = tempfile.TemporaryDirectory()  # removed when the tests end


@functools.cache
def small_results() -> list[Path]:
    """Return two runs of one scene, with weights and without.  All tests share them, so none may change them."""
    root = Path(_ROOT.name)
    scene = synth.render("occlusion", size=(SIZE, SIZE))
    first = estimate(scene, Options("gcm", solves=SOLVES), keep_weights=True).save(root / "gcm")
    second = estimate(scene, Options("coarse-to-fine", solves=5)).save(root / "coarse")
    return [first, second]


def large_result(small: Path, folder: Path) -> Path:
    """Write a result of 512 x 512 pixels with 17 views, truth and 28 records, as hard to compress as a real one."""
    size, records, step = 512, 28, 9
    random = np.random.default_rng(0)
    folder.mkdir()
    y, x = np.mgrid[:size, :size] / size
    truth = np.where((x - 0.5) ** 2 + (y - 0.5) ** 2 < 0.1, 1.5 + x, y - 1).astype(np.float32)
    write_pfm(folder / "truth.pfm", truth)
    write_pfm(folder / "disparity.pfm", truth + random.normal(0, 0.003, truth.shape))
    write_pfm(folder / "uncertainty.pfm", np.exp(random.normal(-4, 0.3, truth.shape)))
    noise = random.uniform(0, 255, (size // 4, size // 4, 3)).astype(np.uint8)
    texture = np.asarray(Image.fromarray(noise).resize((size, size), Image.Resampling.BICUBIC))
    sheet = Image.fromarray(np.tile(texture, (4, 5, 1)))
    sheet.save(folder / "views.jpg", quality=85)
    summary = json.loads((small / "result.json").read_text())
    summary["source"] |= {"width": size, "height": size}
    summary["views"] |= {"columns": 5, "width": size, "height": size}
    del summary["files"]
    row = summary["history"][-1]
    summary["history"] = [{**row, "solve": k + 1, "step_mean": 0.5 / (k + 1)} for k in range(300)]
    summary["calibration"] = {
        "product": 8000.0,
        "offset": 7.5,
        "unit": "mm",
        "K": [[1400, 0, 255.5], [0, 1400, 255.5], [0, 0, 1]],
    }
    (folder / "result.json").write_text(json.dumps(summary))
    across = len(range(step // 2, size, step))
    shares = random.dirichlet(np.full(48, 0.3), (records, across, across)).reshape(records, across, across, 3, 16)
    shares[shares < 0.002] = 0
    disparities = np.rint(np.tile((truth[::2, ::2] + 1) / 3.5 * 255, (records, 1, 1))).astype(np.uint8)
    save_weights(
        folder / "weights.npz",
        solves=np.unique(np.geomspace(1, 300, 34).astype(np.int32))[-records:],
        codes=np.rint(255 * np.sqrt(shares)).astype(np.uint8),
        step=np.int32(step),
        scales=np.array([2, 1, 0], np.int32),
        disparities=disparities,
        disparity_step=np.int32(2),
        disparity_range=np.array([-1.0, 2.5]),
    )
    return folder


def copy_to_change(folder: Path, place: Path) -> Path:
    """Copy a result and forget the hashes of its files, so that a test can replace them by others."""
    shutil.copytree(folder, place)
    path = place / "result.json"
    summary = json.loads(path.read_text())
    del summary["files"]
    path.write_text(json.dumps(summary))
    return place


def read_weights(path: Path) -> dict[str, Any]:
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def save_weights(path: Path, **arrays: Any) -> None:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    path.write_bytes(buffer.getvalue())


def edit(folder: Path, **fields: Any) -> None:
    """Replace fields of result.json; "source__name" is the field `name` of `source`."""
    path = folder / "result.json"
    summary = json.loads(path.read_text())
    for key, value in fields.items():
        *parents, name = key.split("__")
        place = summary
        for parent in parents:
            place = place[parent]
        place[name] = value
    path.write_text(json.dumps(summary))


def bare_result(folder: Path, disparity: np.ndarray[Any, Any], **fields: Any) -> Path:
    """Write a disparity of unknown cameras and nothing else; `fields` are added to result.json."""
    folder.mkdir()
    write_pfm(folder / "disparity.pfm", disparity)
    height, width = disparity.shape
    summary = {
        "format": "gradcon-result-1",
        "source": {"name": folder.name, "width": width, "height": height},
        "disparity": {"unit": "pixels per unit baseline"},
    }
    (folder / "result.json").write_text(json.dumps(summary | fields))
    return folder
