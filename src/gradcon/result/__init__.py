"""What comes out: the maps of a run, its history, depth, points, and how good they are."""

from gradcon.result.result import Result, Solve

__all__ = ["Result", "Solve"]
