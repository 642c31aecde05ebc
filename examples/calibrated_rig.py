"""Compute metric depth from cameras in any pose, calibrated by K, R and t in a rig.toml.

The script renders its own rig: 17 cameras, each rotated by up to 2.5 degrees and moved out of the plane.  Replace the
folder with one of yours.

    python examples/calibrated_rig.py [FOLDER] [--size PIXELS]
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from gradcon import Options, estimate, open_scene, synth


def main(out: Path, size: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        synth.write("rotated", folder, (size, size))
        print("\n".join((Path(folder) / "rig.toml").read_text().splitlines()[:9]), "\n...")
        scene = open_scene(Path(folder) / "rig.toml")
    result = estimate(scene, Options("gcm", scales=4))  # finest on smooth surfaces
    depth = result.depth()
    truth = scene.calibration.depth(scene.ground_truth)
    percent = 100 * np.abs(depth - truth) / truth
    print(f"depth from {depth.min():.2f} to {depth.max():.2f} m; off by {np.median(percent):.2f} % (median)")

    figure = Figure(figsize=(12, 4.6), layout="constrained")
    panels = (
        ("reference view", scene.colour, {}, None),
        ("depth", depth, {"cmap": "viridis_r"}, "m, along the reference's axis"),
        ("error of the depth", percent, {"cmap": "magma", "vmax": 2}, "percent (the scale ends at 2)"),
    )
    for axes, (title, values, look, unit) in zip(figure.subplots(1, 3), panels, strict=True):
        shown = axes.imshow(values, **look)
        axes.set_title(title, fontsize=14)
        axes.set_axis_off()
        bar = figure.colorbar(shown, ax=axes, location="bottom", shrink=0.9, pad=0.02, label=unit)
        bar.ax.set_visible(unit is not None)
    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / "calibrated_rig.png", dpi=80)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out", nargs="?", type=Path, default=Path(__file__).with_name("out"), help="folder to write to")
    parser.add_argument("--size", type=int, default=256, help="side of a view in pixels")
    main(**vars(parser.parse_args()))
