"""Estimate a light-field video.  Each frame starts from the disparity of the one before, so gcm needs few solves.

The script renders its own video: a ball rolls past a wall, towards the cameras.  For your own video, give
`estimate_many` the frames of `gradcon.open_frames(path)`.

    python examples/light_field_video.py [FOLDER] [--size PIXELS]
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from matplotlib.figure import Figure

from gradcon import Options, Scene, estimate_many, synth

FRAMES, SOLVES = 9, 3
BRICK = [(0.72, 0.36, 0.26), (0.50, 0.22, 0.18), (0.80, 0.77, 0.70)]  # colours are RGB from 0 to 1
SKY = [(0.13, 0.28, 0.42), (0.25, 0.50, 0.58), (0.62, 0.74, 0.66), (0.93, 0.86, 0.66)]


def video(size: int) -> Iterator[Scene]:
    """Render the frames one by one; any world added to `synth.SCENES` can be rendered by its name."""
    for k in range(FRAMES):
        place = (-0.35 + 0.03 * k, 0.1, 2.3 - 0.03 * k)  # of the ball, in metres

        def world(paint: synth.Painter, place: tuple[float, float, float] = place) -> synth.World:
            wall = synth.patch(paint.bricks(10, BRICK), (0, 0, 2.9), (0.35, -0.1))
            ball = synth.ball(paint.clouds(20, SKY), place, 0.3)
            return synth.World([wall, ball], baseline=0.03, focus=synth.NO_FOCUS)

        synth.SCENES["video"] = world
        yield synth.render("video", (size, size), grid=5)


def main(out: Path, size: int) -> None:
    frames, few = list(video(size)), Options("gcm", solves=SOLVES)
    runs = {
        "each frame to its own end": (list(estimate_many(frames, Options("gcm"))), "C7"),
        f"{SOLVES} solves from 0": (list(estimate_many(frames, few)), "C0"),
        f"{SOLVES} solves from the frame before": (list(estimate_many(frames, few, initial="previous")), "C3"),
    }
    figure = Figure(figsize=(12, 7.2), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=[3, 2.2])
    axes, chained = upper.subplots(2, 5), runs[f"{SOLVES} solves from the frame before"][0]
    for above, below, k in zip(*axes, range(0, FRAMES, 2), strict=True):
        above.imshow(frames[k].colour)
        above.set_title(f"frame {k}", fontsize=13)
        shown = below.imshow(chained[k].disparity, cmap="viridis", vmin=2, vmax=3.8)
    for place in axes.flat:
        place.set_axis_off()
    upper.colorbar(shown, ax=axes, label="disparity, px", shrink=0.8)
    curves = lower.subplots()
    for name, (results, colour) in runs.items():
        rmse = [result.metrics["rmse"] for result in results]
        solves = sum(len(result.history) for result in results) / FRAMES
        print(f"{name:32} {solves:5.1f} solves a frame; RMSE {rmse[0]:.4f} (first), {rmse[-1]:.4f} px (last)")
        curves.plot(rmse, "o-", color=colour, label=f"{name} ({solves:.0f} a frame)" if solves > SOLVES else name)
    curves.set(xlabel="frame", ylabel="RMSE, px", ylim=(0, None))
    curves.grid(alpha=0.3)
    curves.legend()
    out.mkdir(parents=True, exist_ok=True)
    figure.savefig(out / "light_field_video.png", dpi=80)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out", nargs="?", type=Path, default=Path(__file__).with_name("out"), help="folder to write to")
    parser.add_argument("--size", type=int, default=160, help="side of a view in pixels")
    main(**vars(parser.parse_args()))
