"""Synthetic scenes with exact ground truth, for the demo and the tests; there is nothing to download."""

from gradcon.synth.rendering import render
from gradcon.synth.worlds import SCENES
from gradcon.synth.writing import write

__all__ = ["SCENES", "render", "write"]
