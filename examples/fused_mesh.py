"""Fuse the maps of five views into one mesh, write it as PLY, and draw it from places where no camera stood.

A single map is torn wherever a near surface hides a far one.  Other views see behind it, and their maps fill the gaps.
For your own light field, open its folder instead of the rendered one.  With the extra `mesh`, `save` also writes .glb.

    python examples/fused_mesh.py [FOLDER] [--size PIXELS]
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from gradcon import Mesh, estimate, fuse, open_scene, synth

VIEWS = [40, 36, 44, 4, 76]  # of the 9 x 9 grid: the middle one, and the ends of its row and column


def look(mesh: Mesh, tilt: float, pan: float, size: int) -> np.ndarray:
    """Draw the mesh in the colours of its corners, turned by `tilt` and `pan` degrees about its middle."""
    a, b = np.radians([tilt, pan])
    across = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
    down = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    middle = [0, 0, np.median(mesh.positions[:, 2])]
    corners = ((mesh.positions - middle) @ (down @ across).T + middle)[mesh.triangles]
    colours = mesh.colours[mesh.triangles]
    steps = 6  # a triangle is about as large as a pixel, so a few of its points cover it
    shares = [(i / steps, j / steps, 1 - (i + j) / steps) for i in range(steps + 1) for j in range(steps + 1 - i)]
    points = np.concatenate([np.tensordot(corners, share, (1, 0)) for share in shares])
    painted = np.concatenate([np.tensordot(colours, share, (1, 0)) for share in shares])
    columns, rows = np.rint(size * (0.5 + 1.2 * points[:, :2] / points[:, 2:])).astype(int).T
    inside = (rows >= 0) & (rows < size) & (columns >= 0) & (columns < size)
    order = np.flatnonzero(inside)[np.argsort(-points[inside, 2])]  # the nearest are painted last
    picture = np.full((size, size, 3), 255, np.uint8)
    picture[rows[order], columns[order]] = painted[order]
    return picture


def main(out: Path, size: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        synth.write("occlusion", folder, (size, size), views="all")
        names = [f"input_Cam{number:03}.png" for number in VIEWS]
        results = [estimate(open_scene(folder, reference=name, views="cross")) for name in names]
    single, fused = fuse(results[0], keep=1), fuse(results)
    out.mkdir(parents=True, exist_ok=True)
    mesh = fused.mesh()
    path = mesh.save(out / "fused_mesh.ply")
    print(f"{path}: {len(mesh)} triangles between {len(mesh.positions)} points, in {mesh.unit}")
    print(f"one view: {len(single)} points; five: {len(fused)}, and {fused.counts.merged} pixels merged into them")

    figure = Figure(figsize=(12, 4.8), layout="constrained")
    panels = {
        "one map, 25 degrees to the right": (single.mesh(), 10, 25),
        "five maps, 25 degrees to the right": (mesh, 10, 25),
        "five maps, from the left": (mesh, 10, -25),
    }
    for axes, (title, (shape, tilt, pan)) in zip(figure.subplots(1, 3), panels.items(), strict=True):
        axes.imshow(look(shape, tilt, pan, 2 * size))
        axes.set_title(title, fontsize=14)
        axes.set_axis_off()
    figure.supxlabel(f"{len(mesh)} triangles from five maps; white: what no two views show")
    figure.savefig(out / "fused_mesh.png", dpi=80)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out", nargs="?", type=Path, default=Path(__file__).with_name("out"), help="folder to write to")
    parser.add_argument("--size", type=int, default=288, help="side of a view in pixels")
    main(**vars(parser.parse_args()))
