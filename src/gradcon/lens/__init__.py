"""Lenses that bend straight lines: their models, and how a view becomes what a pinhole camera would have seen."""

from gradcon.lens.distortion import MODELS, Distortion
from gradcon.lens.undistortion import Undistortion

__all__ = ["MODELS", "Distortion", "Undistortion"]
