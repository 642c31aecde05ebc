"""A picture of how well a predicted standard deviation fits the true error."""

from __future__ import annotations

from typing import Any

from gradcon.pictures.canvas import new_figure, png_of


def uncertainty_picture(found: dict[str, Any], title: str) -> bytes:
    """Draw what `evaluate_uncertainty` found as PNG: sparsification on the left, calibration on the right."""
    from matplotlib.ticker import NullFormatter

    figure = new_figure(11, 4.6, layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(found["dropped"], found["rmse"], marker="o", label="by uncertainty")
    best = {"color": "0.4", "linestyle": "--", "label": "by the true error (best possible)"}
    left.plot(found["dropped"], found["rmse_oracle"], **best)
    left.set(xlabel="pixels dropped (%)", ylabel="RMSE of the rest (pixels)", ylim=(0, None))
    left.set_title(f"Sparsification: dropping a fifth lowers RMSE by {found['reduction_20']:.0f} %")
    left.legend()

    predicted = [group["predicted"] for group in found["groups"]]
    right.plot(predicted, [group["error_median"] for group in found["groups"]], marker="o", label="median error")
    right.plot(predicted, [group["error_rms"] for group in found["groups"]], marker="s", label="RMS error")
    ends = min(predicted), max(predicted)
    right.plot(ends, ends, color="0.4", linestyle="--", label="RMS error, if as predicted")
    medians = [0.6745 * end for end in ends]
    right.plot(ends, medians, color="0.4", linestyle=":", label="median error, if as predicted and normal")
    if min(ends) > 0:
        right.set(xscale="log", yscale="log")
        right.xaxis.set_minor_formatter(NullFormatter())
    right.set(xlabel="predicted standard deviation (pixels)", ylabel="error (pixels)")
    right.set_title(f"Calibration: {found['within']['1']:.0f} % of errors within one deviation")
    right.legend(fontsize="small")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.suptitle(title, parse_math=False)
    return png_of(figure)
