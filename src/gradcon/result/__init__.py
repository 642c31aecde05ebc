"""What comes out: the maps of a run and its history, depth and points, and measures of accuracy."""

from gradcon.result.result import Result, Solve

__all__ = ["Result", "Solve"]
