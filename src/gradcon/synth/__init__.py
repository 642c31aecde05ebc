"""Synthetic scenes with exact ground truth: the demo and the tests run on them, with nothing to download."""

from gradcon.synth.rendering import render
from gradcon.synth.worlds import SCENES
from gradcon.synth.writing import write

__all__ = ["SCENES", "render", "write"]
