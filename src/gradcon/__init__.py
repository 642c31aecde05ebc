"""Disparity and confidence from many views of a scene, by the Gradient Consistency Model.

>>> import gradcon
>>> scene = gradcon.open_scene("my-light-field")                    # doctest: +SKIP
>>> result = gradcon.estimate(scene)                                # doctest: +SKIP
>>> result.save("out")                                              # doctest: +SKIP
"""

from gradcon.errors import InputError
from gradcon.estimate import Options, estimate
from gradcon.io import open_scene
from gradcon.metrics import evaluate
from gradcon.result import Result, Solve
from gradcon.scene import Scene

__version__ = "0.1.0"
__all__ = ["InputError", "Options", "Result", "Scene", "Solve", "estimate", "evaluate", "open_scene"]
