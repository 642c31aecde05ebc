"""Compiles an engine ahead of time, so that the workers of a batch find it compiled."""

from __future__ import annotations

import warnings

import numpy as np

from gradcon.methods.estimation import estimate
from gradcon.methods.options import Options
from gradcon.methods.registry import METHODS
from gradcon.scene import Scene


def compile_engine(engine: str, *methods: str) -> None:
    """Compile everything that estimates by these methods need, by running each on a tiny scene."""
    pixels = np.random.default_rng(0).integers(0, 256, (3, 16, 16, 3), dtype=np.uint8)  # colours, as most files have
    scene = Scene(pixels[0], pixels[1:], [(1, 0), (0, 1)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # noise may look like reversed cameras
        for method in methods:
            solves = 2 if "solves" in METHODS[method].parameters else Options.solves
            estimate(scene, Options(method, solves=solves), engine=engine)
