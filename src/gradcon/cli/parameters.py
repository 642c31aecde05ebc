"""The options of all commands that estimate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from typing import Annotated, Any

import typer

from gradcon import engines
from gradcon.cli.groups import Group
from gradcon.engines import BY_DEFAULT, PRINTED, Choices
from gradcon.errors import InputError
from gradcon.methods.options import Options
from gradcon.methods.registry import DEFAULT, METHODS
from gradcon.pictures.colour_maps import COLOUR_MAPS


def one_of(names: Iterable[str]) -> str:
    """List names as a choice: a, b or c."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def _not_for(parameter: str) -> str:
    """Name the methods that lack a parameter."""
    return f"not for {one_of(name for name, method in METHODS.items() if parameter not in method.parameters)}"


_TERMS = " or ".join(f"{name} ({', '.join(method.terms)})" for name, method in METHODS.items() if method.terms)

Method = Annotated[
    str | None, typer.Option(help=f"{one_of(METHODS)} [default: {DEFAULT}; gcm with --paper].", show_default=False)
]
Paper = Annotated[
    bool, typer.Option("--paper", help="Do everything as the paper prints it: settings, start, and every choice.")
]
ChoicesMade = Annotated[
    list[str] | None,
    typer.Option(
        "--choice",
        metavar="NAME=VALUE",
        help=f"Make one of the choices about the paper: {one_of(each.name for each in fields(Choices))}.",
    ),
]
Without = Annotated[str | None, typer.Option(help=f"Leave out an ingredient of {_TERMS}.")]
Alpha = Annotated[float, typer.Option(help=f"The weight of the smoothness term; {_not_for('alpha')}.")]
Epsilon = Annotated[
    float | None,
    typer.Option(help=f"The paper's epsilon; found from the noise of the images unless given; {_not_for('epsilon')}."),
]
Scales = Annotated[
    int | None,
    typer.Option(help=f"The number of scales; found from the images unless given; {_not_for('scales')}."),
]
Solves = Annotated[int, typer.Option(help=f"The largest number of solves; {_not_for('solves')}.")]
Engine = Annotated[str, typer.Option(help=f"{one_of(engines.NAMES)}.")]
Flip = Annotated[
    str | None,
    typer.Option(help="Reverse the baselines along x, y or both (xy); a t in front exchanges x and y first."),
]
Range = Annotated[
    str | None,
    typer.Option("--range", metavar="LOW,HIGH", help="The disparities to look for; found in the views unless given."),
]
Noise = Annotated[
    float | None,
    typer.Option(help="The standard deviation of the noise, for pixels from 0 to 1; measured unless given."),
]
NoGains = Annotated[bool, typer.Option("--no-gains", help="Do not compensate differences in brightness.")]
Align = Annotated[
    bool, typer.Option("--align", help="Also compensate small shifts, rotations and scales of the views.")
]
ColourMap = Annotated[
    str, typer.Option("--cmap", metavar="NAME", help=f"The colours of the disparity: {one_of(COLOUR_MAPS)}.")
]
Points = Annotated[bool, typer.Option("--points", help="Also write a point cloud, points.ply.")]
KeepWeights = Annotated[
    bool, typer.Option("--keep-weights", help="Record which views and scales were trusted, for `gradcon report`.")
]
Workers = Annotated[
    int | None, typer.Option(help="The number of processes; by default one per core, or one per GPU with cuda.")
]
Scheduler = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Run on the Dask cluster of this scheduler (tcp://host:port).")
]


def _parse_range(text: str | None) -> tuple[float, float] | None:
    """Parse the option --range, such as "-2,3"."""
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError("range", f"{text!r} is not LOW,HIGH", "give two numbers, such as --range=-2,3") from None
    return low, high


def choices_given(texts: Iterable[str], by_default: Choices = BY_DEFAULT) -> Choices:
    """Parse the values of --choice, such as "unseen=coupled"."""
    found: dict[str, Any] = {}
    kinds: dict[str, Callable[[str], Any]] = {each.name: str.strip for each in fields(Choices)}
    kinds |= {"stage_solves": int, "step_limit": float}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if name not in kinds or not equals:
            problem = f"{text!r} names none of the choices" if equals else f"{text!r} is not NAME=VALUE"
            raise InputError("choice", problem, f"use one of {', '.join(kinds)}, such as unseen=coupled")
        try:
            found[name] = kinds[name](value)
        except ValueError:
            raise InputError("choice", f"{value!r} is no value of {name}", "give a number") from None
    return replace(by_default, **found)


def options_given(
    method: Method = None,
    paper: Paper = False,
    choices: ChoicesMade = None,
    without: Without = None,
    alpha: Alpha = Options.alpha,
    epsilon: Epsilon = Options.epsilon,
    scales: Scales = None,
    solves: Solves = Options.solves,
    disparity_range: Range = None,
    noise: Noise = None,
    no_gains: NoGains = False,
    align: Align = False,
) -> Options:
    """Collect the options of an estimate."""
    given: dict[str, Any] = {
        "alpha": alpha,
        "epsilon": epsilon,
        "scales": scales,
        "solves": solves,
        "without": without,
        "disparity_range": _parse_range(disparity_range),
        "noise": noise,
        "align": align,
        "choices": choices_given(choices or (), PRINTED if paper else BY_DEFAULT),
    }
    if paper:
        return Options.printed(method or "gcm", **given)
    return Options(method or DEFAULT, gains=not no_gains, **given)


OptionsGiven = Annotated[Options, Group(options_given)]
