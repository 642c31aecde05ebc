"""Turn an array of views into a disparity map.

A light field is an array[v, u, y, x, channel], where v counts the rows of cameras downwards and u the columns to the
right.  Load your own instead; this script renders 25 images and reads them.

    python examples/own_light_field.py [FOLDER] [--size PIXELS]
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from gradcon import Scene, estimate, synth


def light_field(size: int) -> np.ndarray:
    """Return a 5 x 5 grid of colour images, read from files as a camera array would write them."""
    with tempfile.TemporaryDirectory() as folder:
        synth.write("occlusion", folder, (size, size), grid=5, views="all")
        images = [np.asarray(Image.open(path)) for path in sorted(Path(folder).glob("input_Cam*.png"))]
    return np.reshape(images, (5, 5, size, size, 3))


def main(out: Path, size: int) -> None:
    array = light_field(size)
    result = estimate(Scene.from_lightfield(array))  # the reference is the view in the middle
    print(f"array {array.shape}: {result.stopped}")
    print(f"disparity from {result.disparity.min():.2f} (far) to {result.disparity.max():.2f} px (near)")

    grid = array[:, :, ::3, ::3].transpose(0, 2, 1, 3, 4)
    panels = (
        ("the light field: 5 x 5 views", grid.reshape(5 * grid.shape[1], -1, 3), None, None),
        ("disparity of the middle view", result.disparity, "viridis", "px per camera step; larger is nearer"),
        ("uncertainty", result.uncertainty, "magma", "predicted error, px; small is good"),
    )
    figure = Figure(figsize=(12, 4.6), layout="constrained")
    for axes, (title, values, colours, unit) in zip(figure.subplots(1, 3), panels, strict=True):
        shown = axes.imshow(values, cmap=colours, vmax=np.quantile(values, 0.99) if unit else None)
        axes.set_title(title, fontsize=14)
        axes.set_axis_off()
        bar = figure.colorbar(shown, ax=axes, location="bottom", shrink=0.9, pad=0.02, label=unit)
        bar.ax.set_visible(unit is not None)
    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / "own_light_field.png", dpi=80)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out", nargs="?", type=Path, default=Path(__file__).with_name("out"), help="folder to write to")
    parser.add_argument("--size", type=int, default=256, help="side of a view in pixels")
    main(**vars(parser.parse_args()))
