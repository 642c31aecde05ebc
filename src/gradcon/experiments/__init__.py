"""The paper's evaluation: every table, figure and statement, examined again on the scenes you have.

`reproduce` is the entry point.  To add an experiment, write a module that defines ``EXPERIMENT`` (see
`gradcon.experiments.experiment.Experiment`) and name it in `PAPER` or in `MORE`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from gradcon.experiments.experiment import Experiment

PAPER = (  # in the order of the report; "multi-scale" is the module multi_scale
    "single-scale",
    "step-limit",
    "multi-scale",
    "boundaries",
    "panels",
    "alpha",
    "epsilon",
    "robustness",
    "middlebury",
    "geometry",
    "scale-ratio",
    "choices",
)
MORE = ("uncertainty", "peers", "beyond", "settings", "disturbed", "judge")  # what goes further than the paper
EXPERIMENTS = (*PAPER, *MORE)
GROUPS = {"paper": PAPER, "more": MORE}  # users may name all of a group at once
FORMER_NAMES = {"confidence": "uncertainty"}  # still accepted from users


def load(name: str) -> Experiment:
    """Import an experiment by its name."""
    return cast("Experiment", import_module(f"gradcon.experiments.{name.replace('-', '_')}").EXPERIMENT)
