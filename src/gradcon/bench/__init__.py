"""Measurements of speed and memory."""

from gradcon.bench.measure import bench, sweep
from gradcon.bench.texts import describe, describe_sweep

__all__ = ["bench", "describe", "describe_sweep", "sweep"]
