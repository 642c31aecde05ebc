"""Groups of options that several commands share, which a command takes as one value.

A parameter that is annotated with a `Group` stands for all parameters of the group's function.  On the command line
they are options like all others, and the command gets what the function makes of them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple, get_args


class Group(NamedTuple):
    """Stands in the annotation of a command's parameter: `Annotated[Told, Group(told_about_scene)]`."""

    collect: Callable[..., Any]  # its parameters are the options,
    without: tuple[str, ...] = ()  # but for these, which keep their defaults


def grouped(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return the command with the parameters of its groups in the places of the groups."""
    taken: list[inspect.Parameter] = []
    groups: dict[str, tuple[Callable[..., Any], list[str]]] = {}
    for parameter in _parameters(command):
        group = next((part for part in get_args(parameter.annotation) if isinstance(part, Group)), None)
        if group is None:
            taken.append(parameter)
            continue
        options = [option for option in _parameters(group.collect) if option.name not in group.without]
        groups[parameter.name] = group.collect, [option.name for option in options]
        taken += options

    @functools.wraps(command)
    def with_groups(**given: Any) -> Any:
        for name, (collect, options) in groups.items():
            given[name] = collect(**{option: given.pop(option) for option in options})
        return command(**given)

    named = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in taken]
    with_groups.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]
    with_groups.__annotations__ = {parameter.name: parameter.annotation for parameter in named}
    return with_groups


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(function, eval_str=True).parameters.values())
