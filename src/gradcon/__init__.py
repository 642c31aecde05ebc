"""Estimate disparity, depth and uncertainty from many views of a scene with the Gradient Consistency Model.

>>> import gradcon
>>> result = gradcon.estimate(gradcon.open_scene("my-light-field"))  # doctest: +SKIP
>>> result.save("out")                                               # doctest: +SKIP

Everything a program needs is a name of this package.  Each one is imported when it is first used, so that
`import gradcon` and `gradcon --help` stay quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradcon import synth
    from gradcon.batch import run_batch
    from gradcon.engines import Choices
    from gradcon.errors import DeviceError, InputError
    from gradcon.fusion import FusedCloud, Mesh, fuse
    from gradcon.io import Frames, open_frames, open_scene, write_hci, write_rig
    from gradcon.io.formats.lightfield_array import save_lightfield
    from gradcon.io.maps import Map, read_map, read_maps, write_map
    from gradcon.io.pfm import read_pfm, write_pfm
    from gradcon.judging import LeftOut, LeftOutView, leave_out
    from gradcon.methods.estimation import estimate
    from gradcon.methods.every_view.estimation import estimate_views
    from gradcon.methods.many import estimate_many
    from gradcon.methods.options import Options
    from gradcon.rendering import refocus, synthesise
    from gradcon.report import WrittenPage, write_report
    from gradcon.result import Result, Solve
    from gradcon.result.agreement import Agreement
    from gradcon.result.every_view import EveryView, Place
    from gradcon.result.metrics import evaluate
    from gradcon.result.points import PointCloud
    from gradcon.result.saved_views import SavedView, SavedViews, read_views
    from gradcon.result.stopped import Stopped, StopReason
    from gradcon.result.uncertainty import evaluate_uncertainty
    from gradcon.result.uncertainty import evaluate_uncertainty as evaluate_confidence
    from gradcon.result.weights import Weights
    from gradcon.scene import Calibration, Camera, Scene

__version__ = "0.2.0.dev0"

__all__ = [
    "Agreement",
    "Calibration",
    "Camera",
    "Choices",
    "DeviceError",
    "EveryView",
    "Frames",
    "FusedCloud",
    "InputError",
    "LeftOut",
    "LeftOutView",
    "Map",
    "Mesh",
    "Options",
    "Place",
    "PointCloud",
    "Result",
    "SavedView",
    "SavedViews",
    "Scene",
    "Solve",
    "StopReason",
    "Stopped",
    "Weights",
    "WrittenPage",
    "estimate",
    "estimate_many",
    "estimate_views",
    "evaluate",
    "evaluate_confidence",
    "evaluate_uncertainty",
    "fuse",
    "leave_out",
    "open_frames",
    "open_scene",
    "read_map",
    "read_maps",
    "read_pfm",
    "read_views",
    "refocus",
    "run_batch",
    "save_lightfield",
    "synth",
    "synthesise",
    "write_hci",
    "write_map",
    "write_pfm",
    "write_report",
    "write_rig",
]

_HOMES = {
    "gradcon.batch": ("run_batch",),
    "gradcon.engines": ("Choices",),
    "gradcon.errors": ("DeviceError", "InputError"),
    "gradcon.fusion": ("FusedCloud", "Mesh", "fuse"),
    "gradcon.io": ("Frames", "open_frames", "open_scene", "write_hci", "write_rig"),
    "gradcon.io.formats.lightfield_array": ("save_lightfield",),
    "gradcon.io.maps": ("Map", "read_map", "read_maps", "write_map"),
    "gradcon.io.pfm": ("read_pfm", "write_pfm"),
    "gradcon.judging": ("LeftOut", "LeftOutView", "leave_out"),
    "gradcon.methods.estimation": ("estimate",),
    "gradcon.methods.every_view.estimation": ("estimate_views",),
    "gradcon.methods.many": ("estimate_many",),
    "gradcon.methods.options": ("Options",),
    "gradcon.rendering": ("refocus", "synthesise"),
    "gradcon.report": ("WrittenPage", "write_report"),
    "gradcon.result": ("Result", "Solve"),
    "gradcon.result.agreement": ("Agreement",),
    "gradcon.result.every_view": ("EveryView", "Place"),
    "gradcon.result.metrics": ("evaluate",),
    "gradcon.result.points": ("PointCloud",),
    "gradcon.result.saved_views": ("SavedView", "SavedViews", "read_views"),
    "gradcon.result.stopped": ("StopReason", "Stopped"),
    "gradcon.result.uncertainty": ("evaluate_uncertainty",),
    "gradcon.result.weights": ("Weights",),
    "gradcon.scene": ("Calibration", "Camera", "Scene"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_FORMERLY = {"evaluate_confidence": "evaluate_uncertainty"}  # what version 0.1 called it


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, and keep it."""
    if name == "synth":
        value: Any = import_module("gradcon.synth")
    elif name in _FORMERLY:
        value = __getattr__(_FORMERLY[name])
    elif name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
    else:
        raise AttributeError(f"module 'gradcon' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
