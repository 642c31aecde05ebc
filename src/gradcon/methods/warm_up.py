"""Compiles an engine ahead of time, so that the workers of a batch find it compiled."""

from __future__ import annotations

import warnings

from gradcon.methods.compilation import compile_missing, cores
from gradcon.methods.estimation import estimate
from gradcon.methods.kernel_parts import tiny_scene
from gradcon.methods.options import Options
from gradcon.methods.registry import METHODS


def compile_engine(engine: str, *methods: str) -> None:
    """Compile everything that estimates by these methods need, and load it, by running each on a tiny scene."""
    compile_missing(engine, *methods, processes=cores())  # not as many as this worker has threads: the others wait
    scene = tiny_scene()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # noise may look like reversed cameras
        for method in methods:
            solves = 2 if "solves" in METHODS[method].parameters else Options.solves
            estimate(scene, Options(method, solves=solves), engine=engine)
