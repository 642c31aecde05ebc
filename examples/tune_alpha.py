"""Show how alpha, the weight of the smoothness, changes the map, with and without noise in the images.

If alpha is too small the noise stays in, and if it is too large edges are rounded off.  The range in between is wide,
and wider still when epsilon matches the noise.

    python examples/tune_alpha.py [FOLDER] [--size PIXELS]
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from gradcon import Options, Scene, estimate, synth

ALPHAS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
PAPER = 2e-4  # the epsilon of the paper
NOISE = 0.03  # standard deviation; white is 1


def main(out: Path, size: int) -> None:
    clean = synth.render("occlusion", (size, size))
    rng = np.random.default_rng(0)
    images = (
        np.clip(view + NOISE * rng.standard_normal(view.shape), 0, 1) for view in (clean.reference, clean.targets)
    )
    noisy, truth = Scene(*images, clean.baselines, ground_truth=clean.ground_truth), clean.ground_truth
    cases = {
        f"3 % noise, epsilon {PAPER} (the paper's)": (noisy, PAPER, "C3"),
        f"3 % noise, epsilon {NOISE}": (noisy, NOISE, "C1"),
        "no noise": (clean, PAPER, "C0"),
    }
    figure = Figure(figsize=(12, 7.2), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=[3, 2.4])
    curves, maps = lower.subplots(), [("ground truth", truth)]
    for name, (scene, epsilon, colour) in cases.items():
        runs = {
            a: estimate(scene, Options("gcm", alpha=a, epsilon=epsilon, solves=40), check_directions=False)
            for a in ALPHAS
        }
        rmse = {alpha: run.metrics["rmse"] for alpha, run in runs.items()}
        best = min(rmse, key=rmse.__getitem__)
        print(f"{name:36} RMSE {rmse[best]:.4f} px at its best alpha, {best}; {rmse[0.5]:.4f} px at the default, 0.5")
        curves.plot(ALPHAS, list(rmse.values()), "o-", color=colour, label=name)
        curves.plot(best, rmse[best], "o", color=colour, markersize=13, fillstyle="none")
        if len(maps) == 1:
            maps += [(f"alpha {a}: RMSE {rmse[a]:.3f} px", runs[a].disparity) for a in (0.05, 0.5, 10)]
    axes = upper.subplots(1, len(maps))
    for place, (title, disparity) in zip(axes, maps, strict=True):
        shown = place.imshow(disparity, cmap="viridis", vmin=truth.min(), vmax=truth.max())
        place.set_title(title, fontsize=13)
        place.set_axis_off()
    upper.colorbar(shown, ax=axes, label="disparity, px", shrink=0.8)
    upper.suptitle(f"images with 3 % noise, epsilon {PAPER}", fontsize=14)
    curves.set(xlabel="alpha (a ring where the RMSE is lowest)", ylabel="RMSE, px", xscale="log")
    curves.set_xticks(ALPHAS, labels=ALPHAS)
    curves.grid(alpha=0.3)
    curves.legend()
    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / "tune_alpha.png", dpi=80)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out", nargs="?", type=Path, default=Path(__file__).with_name("out"), help="folder to write to")
    parser.add_argument("--size", type=int, default=144, help="side of a view in pixels")
    main(**vars(parser.parse_args()))
