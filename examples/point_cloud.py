"""Turn views into a point cloud in millimetres, write it as PLY, and draw it from places where no camera stood.

python examples/point_cloud.py [FOLDER] [--size PIXELS]
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial.transform import Rotation

from gradcon import PointCloud, estimate, synth


def look(cloud: PointCloud, tilt: float, pan: float, size: int) -> np.ndarray:
    """Draw the points as a camera would see them after moving around them by these angles, in degrees."""
    middle = np.median(cloud.positions, axis=0)
    x, y, z = (Rotation.from_euler("xy", (tilt, pan), degrees=True).apply(cloud.positions - middle) + middle).T
    spread = np.arange(-1, 2) / 2  # a point covers 2 x 2 pixels
    across, down = (np.ravel(part) for part in np.meshgrid(spread, spread))
    columns = np.rint(size * (0.5 + 1.1 * x / z)[:, None] + across).astype(int)
    rows = np.rint(size * (0.5 + 1.1 * y / z)[:, None] + down).astype(int)
    picture = np.full((size, size, 3), 255, np.uint8)
    farthest_first = np.argsort(-z)  # the nearest are painted last
    rows, columns = rows[farthest_first], columns[farthest_first]
    colours = np.broadcast_to(cloud.colours[farthest_first, None], (*rows.shape, 3))
    inside = (rows >= 0) & (rows < size) & (columns >= 0) & (columns < size)
    picture[rows[inside], columns[inside]] = colours[inside]
    return picture


def main(out: Path, size: int) -> None:
    result = estimate(synth.render("occlusion", (size, size)))
    cloud = result.points(keep=0.9)  # the surest 90 % of the pixels
    out.mkdir(parents=True, exist_ok=True)
    path = cloud.save(out / "point_cloud.ply")
    near, far = cloud.positions[:, 2].min(), cloud.positions[:, 2].max()
    print(f"{path}: {len(cloud)} points from {near:.0f} to {far:.0f} {cloud.unit}")

    figure = Figure(figsize=(12, 4.2), layout="constrained")
    places = {"as the reference camera": (0, 0), "20 degrees to the right": (0, 20), "15 degrees from above": (15, 0)}
    for axes, (title, (tilt, pan)) in zip(figure.subplots(1, 3), places.items(), strict=True):
        axes.imshow(look(cloud, tilt, pan, size))
        axes.set_title(title, fontsize=14)
        axes.set_axis_off()
    figure.supxlabel(f"{len(cloud)} points, {near:.0f} to {far:.0f} {cloud.unit} away; white: left out, or hidden")
    figure.savefig(out / "point_cloud.png", dpi=80)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out", nargs="?", type=Path, default=Path(__file__).with_name("out"), help="folder to write to")
    parser.add_argument("--size", type=int, default=288, help="side of a view in pixels")
    main(**vars(parser.parse_args()))
