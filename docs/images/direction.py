"""Draw the picture of the guide on disparity: python docs/images/direction.py

It shows a ball in front of a wall, seen by three cameras in a row, and where two points of the middle view appear in
the others.
"""

import tempfile
from pathlib import Path

import numpy as np
from gallery import shrink
from matplotlib.figure import Figure
from PIL import Image

from gradcon import open_scene, synth

PATH = Path(__file__).with_name("direction.png")
SIZE, STEPS = 200, 4
CAMERAS = {36: (STEPS, "4 steps to the left"), 40: (0, "the reference"), 44: (-STEPS, "4 steps to the right")}
BRICK = [(0.72, 0.36, 0.26), (0.50, 0.22, 0.18), (0.80, 0.77, 0.70)]  # colours are RGB from 0 to 1
SKY = [(0.13, 0.28, 0.42), (0.25, 0.50, 0.58), (0.62, 0.74, 0.66), (0.93, 0.86, 0.66)]
POINTS = (((85, 90), "#ffd92f"), ((150, 60), "#66ffff"))  # one near and one far: (x, y) in the reference


def world(paint: synth.Painter) -> synth.World:
    """Place a ball in front of a wall; the cameras are parallel, so disparity is 0 at infinity."""
    wall = synth.patch(paint.bricks(10, BRICK), (0, 0, 3.4))
    ball = synth.ball(paint.clouds(20, SKY), (-0.1, 0.02, 1.9), 0.34)
    return synth.World([wall, ball], baseline=0.03, focus=synth.NO_FOCUS)


def main() -> None:
    """Render the views, mark the points, and write the picture."""
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
