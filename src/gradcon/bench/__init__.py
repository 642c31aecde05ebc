"""Measurements of speed and memory.

measure      seconds per solve by part, memory, and how the cost grows; solves times them
comparisons  solves and whole estimates in units of others, so that the computer's speed cancels
schema       the figures as types: what `gradcon bench --json` writes; setting fills in the computer and the day
texts        the figures for people
"""

from gradcon.bench.comparisons import ratios
from gradcon.bench.measure import bench, sweep
from gradcon.bench.texts import describe, describe_ratios, describe_sweep

__all__ = ["bench", "describe", "describe_ratios", "describe_sweep", "ratios", "sweep"]
