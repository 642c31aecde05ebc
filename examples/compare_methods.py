"""Compare the Gradient Consistency Model with the paper's other methods: where they err, and how fast they converge.

The scene has large areas of almost uniform colour, where the model's weights matter most.

    python examples/compare_methods.py [FOLDER] [--size PIXELS]
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from gradcon import Options, estimate, synth

METHODS = {"gcm": "C3", "coarse-to-fine": "C0", "progressive": "C2", "naive": "C7"}


def main(out: Path, size: int) -> None:
    scene = synth.render("low-texture", (size, size))
    results = {method: estimate(scene, Options(method, solves=100), check_directions=False) for method in METHODS}
    for method, result in results.items():
        print(f"{method:15} RMSE {result.metrics['rmse']:.4f} px after {len(result.history)} solves")

    figure = Figure(figsize=(12, 6.6), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=[3, 2.6])
    axes = upper.subplots(1, 4)
    for place, (method, result) in zip(axes, results.items(), strict=True):
        error = np.abs(result.disparity - scene.ground_truth)
        shown = place.imshow(np.maximum(error, 1e-4), norm=LogNorm(1e-3, 1), cmap="magma")
        place.set_title(f"{method}\nRMSE {result.metrics['rmse']:.3f} px", fontsize=13)
        place.set_axis_off()
    upper.colorbar(shown, ax=axes, label="error, px", shrink=0.8)
    curves = lower.subplots()
    for method, result in results.items():
        rmse = [row.rmse for row in result.history]
        curves.plot(range(1, len(rmse) + 1), rmse, color=METHODS[method], label=method, linewidth=2)
        curves.plot(len(rmse), rmse[-1], "o", color=METHODS[method])
    curves.set(xlabel="solves (a dot where the run ended)", ylabel="RMSE, px", ylim=(0, None), xscale="log")
    curves.xaxis.set_major_formatter("{x:.0f}")
    curves.grid(alpha=0.3, which="both")
    curves.legend()
    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / "compare_methods.png", dpi=80)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out", nargs="?", type=Path, default=Path(__file__).with_name("out"), help="folder to write to")
    parser.add_argument("--size", type=int, default=192, help="side of a view in pixels")
    main(**vars(parser.parse_args()))
