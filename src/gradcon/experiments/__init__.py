"""The paper's evaluation: every table and figure, computed again on the scenes you have.

`reproduce` is the entry point.  To add an experiment, write a module that defines ``EXPERIMENT`` (see
`gradcon.experiments.experiment.Experiment`) and name it in `EXPERIMENTS`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from gradcon.experiments.experiment import Experiment

EXPERIMENTS = (  # in the order of the report; "multi-scale" is the module multi_scale
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
    "beyond",
    "settings",
    "disturbed",
    "judge",
)
FORMER_NAMES = {"confidence": "uncertainty"}  # still accepted from users


def load(name: str) -> Experiment:
    """Import an experiment by its name."""
    return cast("Experiment", import_module(f"gradcon.experiments.{name.replace('-', '_')}").EXPERIMENT)
