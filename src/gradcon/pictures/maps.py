"""Pictures of maps, with a colour bar."""

from __future__ import annotations

import io
import warnings

import numpy as np
from numpy.typing import ArrayLike

from gradcon.errors import InputError
from gradcon.scene.units import DISPARITY_SIGN, DISPARITY_UNIT


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
