"""Disparity and uncertainty from many views of a scene, by the Gradient Consistency Model.

>>> import gradcon
>>> scene = gradcon.open_scene("my-light-field")                    # doctest: +SKIP
>>> result = gradcon.estimate(scene)                                # doctest: +SKIP
>>> result.save("out")                                              # doctest: +SKIP
"""

from gradcon.errors import DeviceError, InputError
from gradcon.io import open_frames, open_scene
from gradcon.methods.estimation import estimate
from gradcon.methods.many import estimate_many
from gradcon.methods.options import Options
from gradcon.result import Result, Solve
from gradcon.result.metrics import evaluate
from gradcon.result.uncertainty import evaluate_uncertainty
from gradcon.scene import Scene
from gradcon.scene.calibration import Calibration

__version__ = "0.1.0"
evaluate_confidence = evaluate_uncertainty  # its name in version 0.1
__all__ = [
    "Calibration",
    "DeviceError",
    "InputError",
    "Options",
    "Result",
    "Scene",
    "Solve",
    "estimate",
    "estimate_many",
    "evaluate",
    "evaluate_confidence",
    "evaluate_uncertainty",
    "open_frames",
    "open_scene",
]
