"""What one does with a disparity map: views between the cameras, and pictures of a wide lens."""

from gradcon.rendering.refocusing import refocus
from gradcon.rendering.synthesis import synthesise

__all__ = ["refocus", "synthesise"]
