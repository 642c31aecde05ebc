"""Disparity, depth and confidence from many views of a scene, by the Gradient Consistency Model."""

from gradcon.errors import InputError
from gradcon.metrics import evaluate
from gradcon.scene import Scene

__version__ = "0.1.0"
__all__ = ["InputError", "Scene", "evaluate"]
