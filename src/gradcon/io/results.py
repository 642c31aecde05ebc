"""What a run leaves in its folder: maps, pictures of them, points and result.json, all or none."""

from __future__ import annotations

import importlib.metadata
import io
import json
import math
import platform
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gradcon.arrays import to_host
from gradcon.depth import to_millimetres
from gradcon.engines import known_truth
from gradcon.errors import InputError
from gradcon.io import pfm, ply
from gradcon.io.files import write_files
from gradcon.io.maps.png_map import encode_png_map
from gradcon.points import KEEP
from gradcon.result import DISPARITY_SIGN, DISPARITY_UNIT, RESULT_FILES, SUMMARY, Result
from gradcon.view_sheet import view_sheet


def save_result(
    result: Result, folder: str | Path, *, points: bool = False, normals: bool = False, keep: float = KEEP
) -> Path:
    """What `Result.save` does."""
    folder = Path(folder)
    replaced = (folder / SUMMARY).is_file()  # then what else lies there is an earlier result's, not the user's own
    written = set()

    def files() -> Iterator[tuple[str, bytes]]:
        for name, content in result_files(result, points=points, normals=normals, keep=keep):
            written.add(name)
            yield name, content

    write_files(folder, files())
    for path in [folder / name for name in RESULT_FILES if name not in written] if replaced else []:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise InputError(f"{path}: is of an earlier result and cannot be removed ({error.strerror}).") from None
    return folder


def result_files(
    result: Result, *, points: bool = False, normals: bool = False, keep: float = KEEP
) -> Iterator[tuple[str, bytes]]:
    """The files of a result, one after the other: names and contents, result.json the last."""
    if normals and not points:
        raise InputError("normals: are written with the points; ask for those too.")
    cloud = result.points(keep, normals) if points else None
    disparity, scene = to_host(result.disparity), result.scene
    yield "disparity.pfm", pfm.encode(disparity)
    yield "confidence.pfm", pfm.encode(to_host(result.confidence))
    yield "disparity.png", disparity_picture(disparity, str(result.source.get("name", "")))
    if scene.calibration is not None:
        depth = result.depth()
        yield "depth.pfm", pfm.encode(depth)
        millimetres = to_millimetres(depth, scene.calibration.unit)
        if millimetres is not None:
            meaning = {"quantity": "depth", "unit": "mm", "reference": scene.reference_name, "scene": scene.name}
            yield "depth.png", encode_png_map(millimetres, 1.0, 0.0, meaning)
    if cloud is not None:
        yield "points.ply", ply.encode(cloud)
    if (truth := known_truth(scene)) is not None:
        yield "truth.pfm", pfm.encode(truth)
    if result.weights is not None:
        yield "weights.npz", result.weights.encode()
    sheet, views = view_sheet(scene)
    yield views["file"], sheet
    yield SUMMARY, (to_json({**result.summary(), "views": views}) + "\n").encode()


def to_json(value: Any) -> str:
    """Strict JSON: NaN and infinities become null, NumPy's numbers and arrays plain ones."""
    text = json.dumps(_plain(value), indent=2, allow_nan=False, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode()  # names that are no text become JSON's own escapes


def versions(packages: Sequence[str] = ("gradcon", "numpy", "scipy", "numba")) -> dict[str, str | None]:
    """Versions of what a result depends on, found without importing it."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = None
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def disparity_picture(disparity: ArrayLike, title: str) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    values = np.asarray(disparity, dtype=np.float32)
    if values.ndim != 2 or values.size == 0:
        raise InputError(f"a disparity picture needs one map of (height, width) values, not {values.shape}.")
    shown = np.ma.masked_invalid(values)
    low, high = np.percentile(shown.compressed(), (0.5, 99.5)) if shown.count() else (0.0, 1.0)
    aspect = min(max(values.shape[0] / values.shape[1], 0.25), 3.0)
    figure = Figure(figsize=(7.5, 0.7 + 6.0 * aspect), layout="constrained")
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    image = axes.imshow(shown, cmap="viridis", vmin=low, vmax=max(high, low + 1e-6), interpolation="nearest")
    if values.shape[0] / values.shape[1] != aspect:  # a strip: fill the frame, or nothing would be seen
        axes.set_aspect("auto")
    axes.set_axis_off()
    axes.set_title(title, parse_math=False)
    figure.colorbar(image, ax=axes, label=f"disparity ({DISPARITY_UNIT}; {DISPARITY_SIGN})")
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name in letters that the font has not
        canvas.print_png(buffer, metadata={"Software": "gradcon"})
    return buffer.getvalue()
