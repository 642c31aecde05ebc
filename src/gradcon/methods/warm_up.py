"""Compiles an engine ahead of time, so that the workers of a batch find it compiled."""

from __future__ import annotations

import warnings

import numpy as np

from gradcon.methods.compilation import compile_missing, cores
from gradcon.methods.estimation import estimate
from gradcon.methods.kernel_parts import OF_PHOTOGRAPHS, parts_for
from gradcon.methods.options import Options
from gradcon.methods.registry import METHODS
from gradcon.scene import Scene


def compile_engine(engine: str, *methods: str) -> None:
    """Compile everything that estimates by these methods need, and load it, by running each on a tiny scene."""
    # On all cores, and not only those of this worker, because the others wait.
    compile_missing(engine, *methods, pixels=OF_PHOTOGRAPHS, processes=cores())
    for part in parts_for(engine, methods, OF_PHOTOGRAPHS).values():
        part.compile()  # loads it
    pixels = np.random.default_rng(0).integers(0, 256, (3, 16, 16, 3), dtype=np.uint8)  # colours, as most files have
    scene = Scene(pixels[0], pixels[1:], [(1, 0), (0, 1)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # noise may look like reversed cameras
        for method in methods:
            solves = 2 if "solves" in METHODS[method].parameters else Options.solves
            estimate(scene, Options(method, solves=solves), engine=engine)
