"""The paper's evaluation: every table and figure, regenerated on whatever scenes are at hand.

`reproduce` is the way in; each experiment is a module, see `experiment`.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

EXPERIMENTS = (
    "single-scale",
    "multi-scale",
    "alpha",
    "epsilon",
    "middlebury",
    "panels",
    "robustness",
    "scale-ratio",
    "geometry",
    "uncertainty",
    "peers",
)


def module(name: str) -> ModuleType:
    """The experiment called `name`."""
    return import_module(f"gradcon.experiments.{name.replace('-', '_')}")
