"""`gradcon synth`: scenes themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gradcon.cli.app import app, refuse_unwritable
from gradcon.errors import InputError


@app.command("synth")
def _synth(
    name: Annotated[str | None, typer.Argument(help="A scene; --list names them.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder to write into; created where it is missing.")] = None,
    size: Annotated[str, typer.Option(help="Pixels of a view: 256, or WIDTHxHEIGHT.")] = "256",
    views: Annotated[str, typer.Option(help="Which of the 9 x 9 views: cross, star, all, or the N nearest.")] = "cross",
    seed: Annotated[int, typer.Option(help="Of the textures.")] = 0,
    list_scenes: Annotated[bool, typer.Option("--list", help="List the scenes.")] = False,
) -> None:
    """Write a synthetic scene with exact ground truth.

    It becomes a folder of the 4D Light Field Benchmark, or for `rotated`, whose cameras are no grid, with a rig.toml.
    """
    from gradcon import synth

    if list_scenes:
        for known, world in synth.SCENES.items():
            print(f"{known:12} {(world.__doc__ or '').strip().splitlines()[0]}")
        return
    if name not in synth.SCENES:
        asked = "name: no scene is named" if name is None else f"{name}: is not a synthetic scene"
        raise InputError(f"{asked}; choose one of {', '.join(synth.SCENES)}.")
    if out is None:
        raise InputError("out: no folder is given to write the scene into; add --out DIR.")
    refuse_unwritable(out)
    folder = synth.write(name, out, _size(size), views=views, seed=seed)
    print(f"{name}: wrote {len(list(folder.glob('*.png')))} views of {size} x {size}, with ground truth, to {folder}")


def _size(text: str) -> tuple[int, int]:
    """(height, width) of "256" or "640x480"."""
    parts = text.split("x")
    if len(parts) > 2 or not all(part.isdecimal() and 0 < int(part) <= 8192 for part in parts):
        raise InputError(f"size: {text!r} is neither a number of pixels nor WIDTHxHEIGHT, each from 1 to 8192.")
    return int(parts[-1]), int(parts[0])
