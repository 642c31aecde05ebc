"""Make the picture of the README: python docs/images/make.py

It renders the scene `occlusion`, estimates the disparity of the middle view by the sweep and by the paper's model, and
shows the predicted error and the true errors of both.
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
    result, paper = (estimate(scene, Options(method), progress=True) for method in ("sweep", "gcm"))
    errors = [np.maximum(np.abs(one.disparity - np.asarray(scene.ground_truth)), 1e-9) for one in (result, paper)]
    panels = (
        ("reference view, 1 of 17", scene.colour, {}),
        ("estimated disparity (px)", result.disparity, {"cmap": "viridis"}),
        ("uncertainty (px)", result.uncertainty, {"cmap": "magma", "norm": ERRORS}),
        ("true error (px)", errors[0], {"cmap": "magma", "norm": ERRORS}),
        ("true error of gcm (px)", errors[1], {"cmap": "magma", "norm": ERRORS}),
    )
    figure = Figure(figsize=(17, 4.5), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.04, wspace=0.0)
    for axes, (title, values, look) in zip(figure.subplots(1, len(panels)), panels, strict=True):
        shown = axes.imshow(values, interpolation="nearest", **look)
        axes.set_axis_off()
        axes.set_title(title, fontsize=16)
        bar = figure.colorbar(shown, ax=axes, location="bottom", shrink=0.9, pad=0.02, aspect=28)
        bar.ax.tick_params(labelsize=12)
        if "norm" in look:
            bar.set_ticks([1e-3, 1e-2, 1e-1, 1], labels=["0.001", "0.01", "0.1", "1"])
        if not look:  # an invisible bar keeps the pictures at one height
            bar.ax.set_visible(False)
    figure.savefig(PATH, dpi=100)
    pixels = np.asarray(Image.open(PATH).convert("RGB"))
    Image.fromarray(pixels & 0xFC | pixels >> 6).save(PATH, optimize=True)  # 6 bits per channel halve the file
    rmse, of_gcm = result.metrics["rmse"], paper.metrics["rmse"]
    print(f"{PATH}: {PATH.stat().st_size / 1000:.0f} kB; RMSE {rmse:.4f} px, gcm {of_gcm:.4f}")


if __name__ == "__main__":
    main()
