"""Which parts of the cpu engine a method needs compiled, and how each part is compiled.

A part is what one process compiles; parts share no kernel, so that processes can compile them side by side.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gradcon.methods.options import Options
from gradcon.methods.registry import METHODS
from gradcon.scene import Scene

PIXELS = ("uint8",)  # the type of most files' pixels
OF_PHOTOGRAPHS = ("uint8", "uint16")  # smoothed views, and views whose brightness is compensated, have more bits
PAPER_KERNELS = "conjugate", "data", "median", "smoothness", "variance", "warp"  # modules in `gradcon.engines.cpu`


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
    return _chosen(*(f"views-{each}" for each in pixels), "matching", "filters", "directions", *["steps"] * paper)


def _chosen(*names: str) -> dict[str, Part]:
    return {name: part(name) for name in names}


def part(name: str) -> Part:
    """Return a part by its name."""
    from gradcon.engines.cpu import parts

    if name == "steps":
        return Part(30.0, _lacks_steps, _compile_steps)
    kind, _, pixels = name.partition("-")
    kinds: dict[str, tuple[float, Callable[[], list[parts.Need]]]] = {
        "views": (6.0, partial(parts.views, pixels)),
        "matching": (2.0, parts.matching),
        "filters": (2.0, parts.filters),
        "directions": (0.5, parts.directions),
    }
    seconds, needs = kinds[kind]

    def compile_all() -> None:
        for need in needs():
            need.compile()

    return Part(seconds, lambda: any(need.is_missing() for need in needs()), compile_all)


def tiny_scene() -> Scene:
    """Return a scene that takes no time."""
    pixels = np.random.default_rng(0).integers(0, 256, (3, 16, 16, 3), dtype=np.uint8)  # colours, as most files have
    return Scene(pixels[0], pixels[1:], [(1, 0), (0, 1)])


def _compile_steps() -> None:
    """Compile the steps of the paper's methods, by two of them on a tiny scene."""
    from gradcon.methods.loop import minimise

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        minimise(tiny_scene(), Options("gcm", solves=2), engine="cpu").maps()


def _lacks_steps() -> bool:
    """Return whether none of the kernels of these steps has been compiled for this computer."""
    from gradcon.engines.cpu.compiling import is_cachable, is_cached

    kernels = [kernel for name in PAPER_KERNELS for kernel in _kernels(f"gradcon.engines.cpu.{name}")]
    return any(map(is_cachable, kernels)) and not any(map(is_cached, kernels))


def _kernels(module: str) -> list[Any]:
    try:
        return [value for value in vars(importlib.import_module(module)).values() if hasattr(value, "py_func")]
    except ImportError:
        return []
