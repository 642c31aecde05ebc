"""Compare the results of this checkout with those of another one, on this machine and in one run.

    git worktree add ../before HEAD~1
    .venv/bin/python tests/compare_checkouts.py ../before                      # rendered scenes, the engine cpu
    .venv/bin/python tests/compare_checkouts.py ../before --data ../data       # and real ones
    .venv/bin/python tests/compare_checkouts.py ../before --engine cuda --tolerance 1e-6

Every command runs once in each checkout, one right after the other.  All files that it writes are then compared, byte
for byte, but for the records, which hold times.  A tolerance, in pixels per unit baseline, applies to maps alone.  The
exit code is 1 if anything differs.  No hashes are kept anywhere, because the last bits depend on the processor.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent.parent
RECORDS = {".json", ".html", ".csv", ".npz"}  # they hold times, or the time at which they were written
PAPER = ("gcm", "coarse-to-fine", "progressive", "naive")
REAL = ("hci/cotton", "hci/dishes", "middlebury2006/Aloe")

# Rendered scenes by name: the kind, the side in pixels, the views of a side of the grid, and the seed.
RENDERED = {
    "cross": ("occlusion", 160, 9, 11),
    "grid": ("sphere", 96, 5, 12),
    "rotated": ("rotated", 96, 5, 13),
}
# Commands by name: the scene, and the arguments.
COMMANDS = {
    "sweep": ("cross", ["estimate", "--points"]),
    "sweep of a grid": ("grid", ["estimate"]),
    "sweep of rotated cameras": ("rotated", ["estimate"]),
    "gcm": ("cross", ["estimate", "--method", "gcm"]),
    "gcm, six scales": ("grid", ["estimate", "--method", "gcm", "--scales", "6", "--solves", "40"]),
    "gcm of rotated cameras": ("rotated", ["estimate", "--method", "gcm", "--solves", "20"]),
    "gcm without scale": ("grid", ["estimate", "--method", "gcm", "--without", "scale", "--solves", "20"]),
    **{f"{method}, 12 solves": ("cross", ["estimate", "--method", method, "--solves", "12"]) for method in PAPER},
    "every view": ("grid", ["estimate", "--every-view", "--views", "9"]),
    "video": ("video", ["estimate"]),
    "batch": ("", ["batch", "--views", "9"]),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("other", type=Path, help="the checkout to compare with")
    parser.add_argument("--data", type=Path, help="a folder with the real scenes " + ", ".join(REAL))
    parser.add_argument("--engine", default="cpu")
    parser.add_argument("--tolerance", type=float, default=0.0, help="the largest difference of a map that is allowed")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scenes = made_scenes(Path(folder) / "scenes")
        commands = dict(COMMANDS)
        for name in REAL if given.data else ():
            scenes[name] = given.data / name
            commands |= {f"{method} of {name}": (name, ["estimate", "--method", method]) for method in ("sweep", "gcm")}
        differing = 0
        for root in (given.other.resolve(), HERE):  # so that the ratios of the times do not contain compilation
            for method in ("sweep", "gcm"):
                line = line_of(["estimate", "--method", method], [scenes["rotated"]], given.engine)
                run(root, [*line, str(Path(folder) / "warm")])
                shutil.rmtree(Path(folder) / "warm")
        for name, (scene, arguments) in commands.items():
            paths = [scenes[scene]] if scene else [scenes["cross"], scenes["grid"]]
            line = line_of(arguments, paths, given.engine)
            outs = {root: Path(folder) / f"out{k}" for k, root in enumerate((given.other.resolve(), HERE))}
            seconds = [run(root, [*line, str(out)]) for root, out in outs.items()]
            found = differences(*outs.values(), given.tolerance)
            differing += bool(found)
            print(
                f"{name:32} {'equal' if not found else 'DIFFERS'}, time ratio {seconds[1] / seconds[0]:.2f}", flush=True
            )
            for text in found:
                print(f"    {text}")
            for out in outs.values():
                shutil.rmtree(out)
    return int(differing > 0)


def line_of(arguments: list[str], scenes: list[Path], engine: str) -> list[str]:
    """Return a command line, up to the folder that it writes into."""
    return [arguments[0], *map(str, scenes), *arguments[1:], "--engine", engine, "--out"]


def made_scenes(folder: Path) -> dict[str, Path]:
    """Render the scenes by this checkout, and make a video of two frames of one of them."""
    from gradcon import synth

    scenes = {
        name: synth.write(kind, folder / name, (side, side), grid=grid, seed=seed)
        for name, (kind, side, grid, seed) in RENDERED.items()
    }
    scenes["video"] = folder / "video"
    for image in scenes["grid"].glob("input_Cam*.png"):
        row, column = divmod(int(image.stem[-3:]), RENDERED["grid"][2])
        camera = scenes["video"] / f"cam_{row}_{column}"
        camera.mkdir(parents=True)
        for frame in ("0000.png", "0001.png"):
            shutil.copy(image, camera / frame)
    return scenes


def run(root: Path, arguments: list[str]) -> float:
    """Run a command by the sources of a checkout; return its seconds."""
    began = time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    done = subprocess.run(
        [sys.executable, "-m", "gradcon", *arguments],
        env=environment,
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{root}: gradcon {' '.join(arguments)}\n{done.stderr}")
    return time.perf_counter() - began


def differences(before: Path, after: Path, tolerance: float) -> list[str]:
    """Return a sentence for each file that one folder lacks, or that differs."""
    names = [
        {path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and path.suffix not in RECORDS}
        for folder in (before, after)
    ]
    found = [f"{name}: only before" for name in sorted(names[0] - names[1])]
    found += [f"{name}: only after" for name in sorted(names[1] - names[0])]
    for name in sorted(names[0] & names[1]):
        if (before / name).read_bytes() == (after / name).read_bytes():
            continue
        if name.suffix == ".pfm":
            apart = np.abs(pixels(after / name) - pixels(before / name))
            if not (apart <= tolerance).all():
                share = np.mean(~(apart <= tolerance))
                found.append(f"{name}: {100 * share:.2f} % of the pixels differ, by up to {np.nanmax(apart):.2g}")
        elif tolerance == 0:
            found.append(f"{name}: differs")
    return found


def pixels(path: Path) -> np.ndarray:
    from gradcon import read_pfm

    return np.asarray(read_pfm(path), np.float64)


if __name__ == "__main__":
    sys.exit(main())
