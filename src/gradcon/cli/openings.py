"""What may be told about a scene on the command line, for all commands that open one."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from gradcon.errors import InputError

Reference = Annotated[str | None, typer.Option(metavar="NAME", help="Name of the reference view.")]
Views = Annotated[str, typer.Option(help="Which views to use: cross, star, all, or the N nearest.")]
Pattern = Annotated[str | None, typer.Option(help='File names of the views: "x_{row}_{col}.png".')]
SizeFactor = Annotated[float | None, typer.Option(help="Middlebury: what ground-truth grey values are divided by.")]
Grid = Annotated[str | None, typer.Option(metavar="ROWSxCOLUMNS", help="One image of all views: how many there are.")]
MicroImages = Annotated[bool, typer.Option("--micro-images", help="That image is of micro-images of so many pixels.")]
Neighbours = Annotated[int | None, typer.Option(help="COLMAP: how many images around the reference are used.")]


def grid_of(text: str | None) -> tuple[int, int] | None:
    """(rows, columns) of "9x9"."""
    if text is None:
        return None
    match = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", text)
    if match is None:
        raise InputError(f"grid: {text!r} is not ROWSxCOLUMNS, such as 9x9.")
    return int(match[1]), int(match[2])


def hints(
    reference: str | None,
    pattern: str | None,
    size_factor: float | None,
    grid: str | None,
    micro_images: bool,
    neighbours: int | None,
) -> dict[str, Any]:
    """The options above as `gradcon.open_scene` takes them."""
    return {
        "reference": reference,
        "pattern": pattern,
        "size_factor": size_factor,
        "grid": grid_of(grid),
        "micro_images": micro_images,
        "neighbours": neighbours,
    }


def as_options(told: dict[str, Any]) -> list[str]:
    """What `hints` made, as options again."""
    options = []
    for name, value in told.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            options.append(option)
        elif value not in (None, False):
            options += [option, "x".join(map(str, value)) if isinstance(value, tuple) else str(value)]
    return options
