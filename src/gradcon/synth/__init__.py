"""Synthetic scenes with exact ground truth, for the demo and the tests; there is nothing to download."""

from gradcon.synth.raycast import ball, bars, box, patch, ring
from gradcon.synth.rendering import render
from gradcon.synth.textures import Painter
from gradcon.synth.worlds import NO_FOCUS, SCENES, World
from gradcon.synth.writing import write

__all__ = ["NO_FOCUS", "SCENES", "Painter", "World", "ball", "bars", "box", "patch", "render", "ring", "write"]
