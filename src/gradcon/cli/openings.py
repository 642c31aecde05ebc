"""The options of all commands that open a scene."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from gradcon.cli.groups import Group
from gradcon.errors import InputError

Told = dict[str, Any]  # the options by the names of `gradcon.open_scene`'s parameters
Views = Annotated[str, typer.Option(help="Which views to use: cross, star, all, or the N nearest.")]
GridViews = Annotated[
    str, typer.Option(help="Which views of the 9 x 9 grid to use: cross, star, all, or the N nearest.")
]
Reference = Annotated[str | None, typer.Option(metavar="NAME", help="The name of the reference view.")]
Pattern = Annotated[str | None, typer.Option(help='The file names of the views, such as "x_{row}_{col}.png".')]
SizeFactor = Annotated[float | None, typer.Option(help="Middlebury: the divisor of the ground truth's grey values.")]
Grid = Annotated[
    str | None,
    typer.Option(metavar="ROWSxCOLUMNS", help="The grid of views in a single image, or of numbered images."),
]
MicroImages = Annotated[
    bool,
    typer.Option("--micro-images", help="That image consists of micro-images of ROWSxCOLUMNS pixels."),
]
Neighbours = Annotated[int | None, typer.Option(help="COLMAP: the number of images around the reference to use.")]
Slide = Annotated[bool, typer.Option("--slide", help="For a video, or frames: one camera slid past a still scene.")]


def told_about_scene(
    reference: Reference = None,
    pattern: Pattern = None,
    size_factor: SizeFactor = None,
    grid: Grid = None,
    micro_images: MicroImages = False,
    neighbours: Neighbours = None,
    slide: Slide = False,
) -> Told:
    """Collect the options of a command, as keyword arguments of `gradcon.open_scene`."""
    return {
        "reference": reference,
        "pattern": pattern,
        "size_factor": size_factor,
        "grid": _grid(grid),
        "micro_images": micro_images,
        "neighbours": neighbours,
        "slide": slide,
    }


ToldAboutScene = Annotated[Told, Group(told_about_scene)]
ToldAboutViews = Annotated[Told, Group(told_about_scene, without=("reference",))]  # the command knows it itself


def as_options(told: Told) -> list[str]:
    """Turn the keyword arguments back into options of the command line."""
    options = []
    for name, value in told.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            options.append(option)
        elif value not in (None, False):
            options += [option, "x".join(map(str, value)) if isinstance(value, tuple) else str(value)]
    return options


def _grid(text: str | None) -> tuple[int, int] | None:
    """Parse "9x9" as (rows, columns)."""
    if text is None:
        return None
    match = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", text)
    if match is None:
        raise InputError("grid", f"{text!r} is not ROWSxCOLUMNS", "give two numbers, such as 9x9")
    return int(match[1]), int(match[2])
