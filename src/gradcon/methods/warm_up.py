"""Compiles an engine ahead of time, so that the workers of a batch find it compiled."""

from __future__ import annotations

import warnings

import numpy as np

from gradcon.methods.estimation import estimate
from gradcon.methods.options import Options
from gradcon.scene import Scene


def compile_engine(engine: str, *methods: str) -> None:
    """Compile everything that estimates by these methods need, by running each on a tiny scene."""
    pixels = np.random.default_rng(0).random((3, 16, 16), dtype=np.float32)
    scene = Scene(pixels[0], pixels[1:], [(1, 0), (0, 1)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # noise may look like reversed cameras
        for method in methods:
            estimate(scene, Options(method=method, solves=2), engine=engine)
