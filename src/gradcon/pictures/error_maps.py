"""The errors of several methods side by side, a row for each scene."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gradcon.pictures.canvas import new_figure
from gradcon.pictures.maps import shown_range

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TILE = 2.3  # inches


@dataclass(frozen=True)
class Example:
    """A scene, and the disparity that each method finds."""

    name: str
    colour: NDArray[Any]
    truth: NDArray[np.float32]
    maps: Mapping[str, NDArray[np.float32]]


def error_maps(examples: Sequence[Example], most: float) -> Figure:
    """Show the view, the truth and the error of each method, from 0 to `most`; grey is where the truth is unknown."""
    from matplotlib import colormaps

    viridis, inferno = (colormaps[name].with_extremes(bad="0.6") for name in ("viridis", "inferno"))
    columns = 2 + max(len(example.maps) for example in examples)
    aspects = [example.truth.shape[0] / example.truth.shape[1] for example in examples]
    height = 0.2 + sum(0.3 + TILE * aspect for aspect in aspects)
    figure = new_figure(0.8 + TILE * columns, height, layout="constrained")
    axes = figure.subplots(len(examples), columns, squeeze=False, height_ratios=aspects)
    for row, example in zip(axes, examples, strict=True):
        low, high = shown_range(example.truth)
        row[0].imshow(example.colour, cmap="gray")
        row[0].set_title(example.name, fontsize=9, parse_math=False)
        row[1].imshow(example.truth, cmap=viridis, vmin=low, vmax=high, interpolation="nearest")
        row[1].set_title("true disparity", fontsize=9)
        for one, (label, disparity) in zip(row[2:], example.maps.items(), strict=False):
            error = np.abs(disparity - example.truth)
            seen = one.imshow(error, cmap=inferno, vmin=0, vmax=most, interpolation="nearest")
            rmse = np.sqrt(np.nanmean(error.astype(np.float64) ** 2))
            one.set_title(f"{label.split(',')[0]}: RMSE {rmse:.3f}", fontsize=9, parse_math=False)
        for one in row:
            one.set_axis_off()
    figure.colorbar(seen, ax=axes, label="absolute error", shrink=0.6, extend="max")
    return figure
