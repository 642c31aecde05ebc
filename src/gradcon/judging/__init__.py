"""A judge that needs no truth: views that a map was not made from say how good it is."""

from gradcon.judging.leaving_out import LeftOut, LeftOutView, leave_out

__all__ = ["LeftOut", "LeftOutView", "leave_out"]
