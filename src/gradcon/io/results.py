"""What a run leaves in its folder: disparity.pfm and .png, confidence.pfm and result.json, all or none."""

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
from gradcon.errors import InputError
from gradcon.io import pfm
from gradcon.io.files import write_files
from gradcon.result import DISPARITY_SIGN, DISPARITY_UNIT, Result


def save_result(result: Result, folder: str | Path) -> Path:
    """Write the four files of a result into `folder`, which is created where it is missing; return it."""

    def files() -> Iterator[tuple[str, bytes]]:
        disparity = to_host(result.disparity)
        yield "disparity.pfm", pfm.encode(disparity)
        yield "confidence.pfm", pfm.encode(to_host(result.confidence))
        yield "disparity.png", disparity_picture(disparity, str(result.source.get("name", "")))
        yield "result.json", (to_json(result.summary()) + "\n").encode()

    return write_files(Path(folder), files())


def to_json(value: Any) -> str:
    """Strict JSON: NaN and infinities become null, NumPy's numbers and arrays plain ones."""
    return json.dumps(_plain(value), indent=2, allow_nan=False, ensure_ascii=False)


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
