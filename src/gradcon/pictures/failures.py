"""A picture of where a disparity map seems to be wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.pictures.canvas import new_figure, png_of
from gradcon.scene.units import DISPARITY_UNIT


def failure_picture(view: NDArray[Any], failures: NDArray[np.float32], title: str) -> bytes:
    """Draw a view beside the suspected errors of its disparities, as PNG."""
    height, width = failures.shape
    aspect = min(max(height / width, 0.25), 3.0)
    figure = new_figure(11, 0.8 + 5 * aspect, layout="constrained")
    left, right = figure.subplots(1, 2)
    image = view / max(float(view.max()), 1) if view.dtype.kind == "f" else view
    left.imshow(image, cmap="gray")
    left.set_title(title, parse_math=False)
    most = max(float(np.percentile(failures, 99)), 1e-6)
    drawn = right.imshow(failures, cmap="inferno", vmin=0, vmax=most, interpolation="nearest")
    right.set_title("how far the left-out views disagree with it")
    for axes in (left, right):
        axes.set_axis_off()
    figure.colorbar(drawn, ax=right, label=f"suspected error ({DISPARITY_UNIT})", shrink=0.8, extend="max")
    return png_of(figure)
