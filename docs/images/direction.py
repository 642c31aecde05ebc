"""Make the picture of the guide on disparity: python docs/images/direction.py

Three views of a ball before a wall, from cameras that stand in a row, and where two points of the middle one are seen.
"""

import tempfile
from pathlib import Path

import numpy as np
from gallery import shrink
from matplotlib.figure import Figure
from PIL import Image

from gradcon import open_scene, synth
from gradcon.synth.raycast import ball, patch
from gradcon.synth.textures import Painter

PATH = Path(__file__).with_name("direction.png")
SIZE, STEPS = 200, 4
CAMERAS = {36: (STEPS, "4 steps to the left"), 40: (0, "the reference"), 44: (-STEPS, "4 steps to the right")}
POINTS = (((85, 90), "#ffd92f"), ((150, 60), "#66ffff"))  # a near and a far one: (x, y) in the reference


def world(paint: Painter) -> synth.World:
    """Parallel cameras, so that disparity is 0 at infinity."""
    wall = patch(paint.bricks(10, synth.BRICK), (0, 0, 3.4))
    return synth.World(
        [wall, ball(paint.clouds(20, synth.SKY), (-0.1, 0.02, 1.9), 0.34)], baseline=0.03, focus=synth.NO_FOCUS
    )


def main() -> None:
    """Render, mark, write."""
    synth.SCENES["direction"] = world
    with tempfile.TemporaryDirectory() as folder:
        synth.write("direction", folder, (SIZE, SIZE))
        truth = np.asarray(open_scene(folder, views=2).ground_truth)
        views = {k: np.asarray(Image.open(Path(folder) / f"input_Cam{k:03d}.png")) for k in CAMERAS}
    figure = Figure(figsize=(11, 4.4), layout="constrained")
    for axes, (camera, (B, place)) in zip(figure.subplots(1, 3), CAMERAS.items(), strict=True):
        axes.imshow(views[camera])
        for (x, y), colour in POINTS:
            w = truth[y, x]
            axes.axvline(x, color=colour, linestyle=":", linewidth=1.2)
            axes.plot(x + B * w, y, "o", markersize=11, color=colour, markeredgecolor="black")
            if B:
                axes.annotate(
                    "", (x + B * w, y), (x, y), arrowprops={"arrowstyle": "->", "color": colour, "linewidth": 2.5}
                )
            text = f"x = {x + B * w:.1f}" if B else f"x = {x}\nw = {w:.2f} px"
            box = {"boxstyle": "round", "facecolor": "black", "alpha": 0.6}
            axes.text(x + B * w, y + 12, text, color=colour, fontsize=12, ha="center", va="top", bbox=box)
        axes.set_title(f"{place}: B = ({B}, 0)", fontsize=15)
        axes.set_axis_off()
    figure.supxlabel("x seen = x + B w: the near point, of larger disparity w, moves farther", fontsize=13)
    figure.savefig(PATH, dpi=80)
    shrink(PATH, PATH)


if __name__ == "__main__":
    main()
