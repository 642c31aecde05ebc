"""Which parts of the cpu engine a method needs compiled, and how each part is compiled.

A part is what one process compiles; parts share no kernel, so that processes can compile them side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from gradcon.methods.registry import METHODS

PIXELS = ("uint8",)  # the type of most files' pixels
OF_PHOTOGRAPHS = ("uint8", "uint16")  # smoothed views, and views whose brightness is compensated, have more bits
OF_A_STEP = ("step-data", "step-solver", "step-rest")  # of the paper's methods


STEP_SECONDS = {"data": 12.0, "solver": 8.0, "rest": 4.0}


class Part(NamedTuple):
    """Kernels that are compiled together."""

    seconds: float  # of one core of the computer in docs/performance.md
    is_missing: Callable[[], bool]
    compile: Callable[[], None]


def parts_for(engine: str, methods: Iterable[str], pixels: Sequence[str] = PIXELS) -> dict[str, Part]:
    """Return the parts that these methods need for views with this type of pixels, by name."""
    if engine == "reference":
        return _chosen("directions")
    if engine != "cpu":
        return {}
    paper = any(not METHODS[method].sweeps for method in methods)  # also these look at the scene by a sweep
    return _chosen(*(f"views-{each}" for each in pixels), "matching", "filters", "directions", *OF_A_STEP * paper)


def _chosen(*names: str) -> dict[str, Part]:
    return {name: part(name) for name in names}


def part(name: str) -> Part:
    """Return a part by its name."""
    from gradcon.engines.cpu import parts

    kind, _, which = name.partition("-")
    kinds: dict[str, tuple[float, Callable[[], list[parts.Need]]]] = {
        "views": (6.0, partial(parts.views, which)),
        "matching": (2.0, parts.matching),
        "filters": (2.0, parts.filters),
        "directions": (0.5, parts.directions),
        "step": (STEP_SECONDS.get(which, 0.0), lambda: parts.steps()[which]),
    }
    seconds, needs = kinds[kind]

    def compile_all() -> None:
        for need in needs():
            need.compile()

    return Part(seconds, lambda: any(need.is_missing() for need in needs()), compile_all)
