"""The figures of the report on the paper's experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gradcon.pictures.canvas import new_figure, png_of, svg_of
from gradcon.scene.units import DISPARITY_UNIT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Maps = Mapping[str, NDArray[Any]]

# The colours that the paper uses for its methods; matplotlib chooses those of any others.
COLOURS = {
    "naive": "tab:purple",
    "gcm": "tab:orange",
    "gcm-one-scale": "tab:olive",
    "progressive": "tab:brown",
    "coarse-to-fine": "tab:blue",
    "gcm-without-scale": "tab:green",
    "gcm-without-gradient": "tab:red",
}


def encode(figure: Figure) -> dict[str, bytes]:
    """Return a figure as PNG and as SVG."""
    return {"png": png_of(figure), "svg": svg_of(figure)}


def convergence(
    curves: Mapping[str, Sequence[float]],
    labels: Mapping[str, str],
    title: str,
    dashed: Mapping[str, Sequence[float]],
) -> Figure:
    """Plot the RMSE against the number of solves, which is on a log axis; `dashed` are other runs of the methods."""
    figure, axes = _plot(title, "solves", f"mean RMSE ({DISPARITY_UNIT})")
    for key, curve in curves.items():
        solves = np.arange(1, 1 + len(curve))
        axes.plot(solves, curve, color=COLOURS[key], label=f"{labels[key]}: {curve[-1]:.3f}")
    for key, curve in dashed.items():
        axes.plot(np.arange(1, 1 + len(curve)), curve, color=COLOURS[key], linestyle="--", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xticks([n for n in (1, 2, 5, 10, 20, 50, 100, 200, 300) if n <= max(map(len, curves.values()))])
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_locator(_no_ticks())
    low, high = (pick(pick(curve) for curve in curves.values()) for pick in (min, max))
    final = max(curve[-1] for curve in curves.values())
    axes.set_ylim(0.9 * low, min(1.03 * high, 2.2 * final))  # the first solves may leave the frame
    axes.legend(title="final RMSE")
    return figure


def against_alpha(rows: Mapping[str, Mapping[str, Any]]) -> Figure:
    """Plot the final RMSE against alpha, which is on a log axis."""
    figure, axes = _plot("Sensitivity to alpha", "alpha", f"mean final RMSE ({DISPARITY_UNIT})")
    for key, row in rows.items():
        alphas = [float(alpha) for alpha in row["by_alpha"]]
        method, printed, _ = key.partition("-as-printed")
        style = "s--" if printed else "o-"
        axes.plot(alphas, list(row["by_alpha"].values()), style, color=COLOURS[method], label=row["label"])
    axes.set_xscale("log")
    axes.set_xticks(alphas)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_locator(_no_ticks())
    axes.set_ylim(bottom=0)
    axes.legend()
    return figure


def scale_ratio(rows: Mapping[str, Mapping[str, Any]]) -> Figure:
    """Plot the ratio of the powers against sigma; lines are computed, dots simulated."""
    figure, axes = _plot("Power of J'_A over that of J'_B", "sigma_q (pixels)", "ratio of expected powers")
    for name, row in rows.items():
        sigmas = [float(sigma) for sigma in row["ratio"]]
        (line,) = axes.plot(sigmas, list(row["ratio"].values()), label=name)
        axes.plot(sigmas, list(row["simulated"].values()), "o", color=line.get_color(), markersize=4)
    axes.set_yscale("log")
    axes.legend(title="power spectrum")
    return figure


def uncertainty(groups: Mapping[str, Sequence[Mapping[str, Any]]]) -> Figure:
    """Plot sparsification and calibration by group of scenes, from what `evaluate_uncertainty` found for each."""
    from matplotlib.ticker import NullFormatter

    figure = new_figure(11, 4.6, layout="constrained")
    left, right = figure.subplots(1, 2)
    for k, (label, found) in enumerate(groups.items()):
        colour = f"C{k}"
        for key, style, what in (("rmse", "o-", "by uncertainty"), ("rmse_oracle", "--", "by the true error")):
            share = np.mean([np.divide(one[key], one[key][0] or 1) for one in found], axis=0)
            left.plot(found[0]["dropped"], 100 * share, style, color=colour, label=f"{label}, {what}")
        for one in found:
            known = [group for group in one["groups"] if min(group["predicted"], group["error_median"]) > 0]
            x, y = ([group[key] for group in known] for key in ("predicted", "error_median"))
            right.plot(x, y, ".-", color=colour, linewidth=0.7, alpha=0.7)
    left.set(xlabel="pixels dropped (%)", ylabel="RMSE of the rest (% of all pixels')", ylim=(0, None))
    left.legend(fontsize="small")
    right.set(
        xscale="log", yscale="log", xlabel="predicted standard deviation (pixels)", ylabel="median error (pixels)"
    )
    ends = np.array(right.get_xlim())
    right.plot(ends, 0.6745 * ends, ":", color="0.3", label="as predicted, if normal")
    right.xaxis.set_minor_formatter(NullFormatter())
    right.legend(fontsize="small")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    return figure


def panels(colour: NDArray[Any], truth: NDArray[np.float32], maps: Maps) -> Figure:
    """Show the ground truth and the disparity of each method above the reference view and the errors."""
    low, high = float(np.nanmin(truth)), float(np.nanmax(truth))
    figure = new_figure(2.6 * (1 + len(maps)) + 0.8, 5.6, layout="constrained")
    axes = figure.subplots(2, 1 + len(maps), squeeze=False)
    shades = {"cmap": "viridis", "vmin": low, "vmax": high, "interpolation": "nearest"}
    axes[0, 0].imshow(truth, **shades)
    axes[0, 0].set_title("ground truth")
    axes[1, 0].imshow(colour, cmap="gray")
    axes[1, 0].set_title("reference view")
    for column, (label, disparity) in enumerate(maps.items(), start=1):
        error = np.abs(disparity - truth)
        seen = axes[0, column].imshow(disparity, **shades)
        axes[0, column].set_title(label)
        wrong = axes[1, column].imshow(error, cmap="gray", vmin=0, vmax=(high - low) / 2, interpolation="nearest")
        axes[1, column].set_title(f"RMSE {np.sqrt(np.nanmean(error.astype(np.float64) ** 2)):.3f}")
    for one in axes.flat:
        one.set_axis_off()
    figure.colorbar(seen, ax=axes[0, :], label=f"disparity ({DISPARITY_UNIT})", shrink=0.9)
    figure.colorbar(wrong, ax=axes[1, :], label="absolute error", shrink=0.9)
    return figure


def progress(maps: Mapping[str, Maps], truth: NDArray[np.float32], after: Sequence[int]) -> Figure:
    """Show a row for each method and a column for each number of solves that it took."""
    longest = max((n for n in after for kept in maps.values() if str(n) in kept), default=after[0])
    shown = [*(str(n) for n in after if n <= longest), "final"]
    figure = new_figure(1.7 * len(shown) + 1.2, 1.75 * len(maps) + 0.6, layout="constrained")
    axes = figure.subplots(len(maps), len(shown), squeeze=False)
    low, high = float(np.nanmin(truth)), float(np.nanmax(truth))
    for row, (label, kept) in zip(axes, maps.items(), strict=True):
        for one, n in zip(row, shown, strict=True):
            disparity = kept.get(n, kept["final"]).astype(np.float32)
            seen = one.imshow(disparity, cmap="viridis", vmin=low, vmax=high, interpolation="nearest")
            one.set_xticks([])
            one.set_yticks([])
        row[0].set_ylabel(label)
    for one, n in zip(axes[0], shown, strict=True):
        one.set_title("end" if n == "final" else "1 solve" if n == "1" else f"{n} solves", fontsize=10)
    figure.colorbar(seen, ax=axes, label=f"disparity ({DISPARITY_UNIT})", shrink=0.8)
    return figure


def _plot(title: str, x: str, y: str) -> tuple[Figure, Axes]:
    figure = new_figure(7, 4.4, layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)
    return figure, axes


def _no_ticks() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()
