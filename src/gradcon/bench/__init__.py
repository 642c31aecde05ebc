"""Measurements of speed and memory."""

from gradcon.bench.solves import (
    STAGES,
    WARM_UP,
    Figures,
    bench,
    describe,
    describe_sweep,
    make_scene,
    sweep,
    time_solves,
)

__all__ = ["STAGES", "WARM_UP", "Figures", "bench", "describe", "describe_sweep", "make_scene", "sweep", "time_solves"]
