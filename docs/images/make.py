"""Make the picture of the README: python docs/images/make.py

It renders the scene `occlusion`, estimates the disparity of the middle view, and shows it beside the predicted and the
true error.
"""

from pathlib import Path

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from PIL import Image

from gradcon import Options, estimate, synth

PATH = Path(__file__).with_name("occlusion.png")
ERRORS = LogNorm(1e-3, 1.0)  # one scale for the predicted and the true error


def main() -> None:
    """Render the scene, estimate its disparity, and draw both."""
    scene = synth.render("occlusion", (384, 384))
    result = estimate(scene, Options("gcm", solves=60), progress=True)
    error = np.abs(result.disparity - np.asarray(scene.ground_truth))
    panels = (
        ("reference view, 1 of 17", scene.colour, {}),
        ("estimated disparity (px)", result.disparity, {"cmap": "viridis"}),
        ("uncertainty: predicted error (px)", result.uncertainty, {"cmap": "magma", "norm": ERRORS}),
        ("true error (px)", np.maximum(error, 1e-9), {"cmap": "magma", "norm": ERRORS}),
    )
    figure = Figure(figsize=(14, 4.0), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.04, wspace=0.0)
    for axes, (title, values, look) in zip(figure.subplots(1, 4), panels, strict=True):
        shown = axes.imshow(values, interpolation="nearest", **look)
        axes.set_axis_off()
        axes.set_title(title, fontsize=16)
        bar = figure.colorbar(shown, ax=axes, location="bottom", shrink=0.9, pad=0.02, aspect=28)
        bar.ax.tick_params(labelsize=12)
        if "norm" in look:
            bar.set_ticks([1e-3, 1e-2, 1e-1, 1], labels=["0.001", "0.01", "0.1", "1"])
        if not look:  # an invisible bar keeps the four pictures at one height
            bar.ax.set_visible(False)
    figure.savefig(PATH, dpi=100)
    pixels = np.asarray(Image.open(PATH).convert("RGB"))
    Image.fromarray(pixels & 0xFC | pixels >> 6).save(PATH, optimize=True)  # 6 bits per channel halve the file
    print(f"{PATH}: {PATH.stat().st_size / 1000:.0f} kB; RMSE {result.metrics['rmse']:.4f} px; {result.stopped}")


if __name__ == "__main__":
    main()
