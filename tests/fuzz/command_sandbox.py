"""The folder in which a random command line runs: scenes, results, and things that are neither."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from fuzz.hunt import make_samples

PARTS = {
    "scene": ("HCI", 0),
    "rig": ("rig.toml", 0),
    "result": ("result", 0),
    "video": ("video", 2),
    "views": ("views", 0),
}
FILES = {"lf.npz": ("NPZ", 0), "map.png": ("PNG map", 0)}
PIPES = ("pipe", "pipe.png", "pipes/v_0_0.png", "pipes/v_0_1.png")
LINKS = {"loop": "loop", "broken": "nowhere"}


def sandbox_files() -> dict[str, bytes]:
    """Return the regular files that the values of `command_lines` name."""
    samples = make_samples(sorted({name for name, _ in (*PARTS.values(), *FILES.values())}))
    found = {"empty.png": b"", "text.txt": b"neither a scene nor a map\n"}
    for part, (name, place) in PARTS.items():
        files = samples[name][place].files
        found |= {f"{part}/{file.removeprefix(f'{part}/')}": content for file, content in files.items()}
    return found | {file: next(iter(samples[name][place].files.values())) for file, (name, place) in FILES.items()}


def fill(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files into a folder, and pipes, links and an empty folder beside them."""
    for name in ("empty", "pipes"):
        (folder / name).mkdir(parents=True)
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    for pipe in PIPES:
        os.mkfifo(folder / pipe)
    for link, target in LINKS.items():
        os.symlink(target, folder / link)
