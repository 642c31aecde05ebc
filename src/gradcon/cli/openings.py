"""What may be told about a scene on the command line, for all commands that open one."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Annotated, Any, get_type_hints

import typer

from gradcon.errors import InputError

Told = dict[str, Any]
Views = Annotated[str, typer.Option(help="Which views to use: cross, star, all, or the N nearest.")]
# By their names in `gradcon.open_scene`: type, help and default.
OPTIONS: dict[str, tuple[Any, Any]] = {
    "reference": (Annotated[str | None, typer.Option(metavar="NAME", help="Name of the reference view.")], None),
    "pattern": (Annotated[str | None, typer.Option(help='File names of the views: "x_{row}_{col}.png".')], None),
    "size_factor": (
        Annotated[float | None, typer.Option(help="Middlebury: what ground-truth grey values are divided by.")],
        None,
    ),
    "grid": (
        Annotated[str | None, typer.Option(metavar="ROWSxCOLUMNS", help="One image of all views: how many there are.")],
        None,
    ),
    "micro_images": (
        Annotated[bool, typer.Option("--micro-images", help="That image is of micro-images of so many pixels.")],
        False,
    ),
    "neighbours": (
        Annotated[int | None, typer.Option(help="COLMAP: how many images around the reference are used.")],
        None,
    ),
}


def opens_scene(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command these options; its parameter `told` gets them, as `gradcon.open_scene` takes them."""
    types = get_type_hints(command, include_extras=True)
    own = [p for p in inspect.signature(command).parameters.values() if p.name != "told"]

    @functools.wraps(command)
    def opening(**given: Any) -> Any:
        told = {name: given.pop(name) for name in OPTIONS}
        return command(**given, told={**told, "grid": _grid(told["grid"])})

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [p.replace(kind=keyword, annotation=types[p.name]) for p in own]
    parameters += [
        inspect.Parameter(name, keyword, default=default, annotation=kind) for name, (kind, default) in OPTIONS.items()
    ]
    opening.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    opening.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": types["return"]}
    return opening


def as_options(told: Told) -> list[str]:
    """What was told, as options again."""
    options = []
    for name, value in told.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            options.append(option)
        elif value not in (None, False):
            options += [option, "x".join(map(str, value)) if isinstance(value, tuple) else str(value)]
    return options


def _grid(text: str | None) -> tuple[int, int] | None:
    """(rows, columns) of "9x9"."""
    if text is None:
        return None
    match = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", text)
    if match is None:
        raise InputError(f"grid: {text!r} is not ROWSxCOLUMNS, such as 9x9.")
    return int(match[1]), int(match[2])
