"""What one does with a disparity map: views between the cameras, pictures of a wide lens, and a judge without truth."""

from gradcon.rendering.judging import LeftOut, LeftOutView, leave_out
from gradcon.rendering.refocusing import refocus
from gradcon.rendering.synthesis import synthesise

__all__ = ["LeftOut", "LeftOutView", "leave_out", "refocus", "synthesise"]
