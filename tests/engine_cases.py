"""What the tests of engines share: scenes of every kind, disparities, linear systems, and the engines themselves."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from gradcon import Scene, synth
from gradcon.engines import BY_DEFAULT, ENGINES, AnyEngine, Choices, DataTerm, create
from gradcon.engines.cuda import device as cuda_device
from gradcon.engines.cuda.engine import CudaEngine
from gradcon.engines.reference import smoothness_operator
from gradcon.methods.options import PAPER_EPSILON
from simt import COMPILER, EmulatedGpu

NO_GPU = cuda_device.why_not()
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler: install g++")

Make = Callable[[Scene], AnyEngine]


def make(name: str, choices: Choices = BY_DEFAULT) -> Make:
    """Return the function that makes an engine for a scene."""
    if name == "emulated cuda":
        return lambda scene: CudaEngine(scene, PAPER_EPSILON, EmulatedGpu(), choices=choices)
    return lambda scene: create(name, scene, PAPER_EPSILON, (), choices=choices)


def _param(name: str) -> Any:
    """Return the parameter of a test that runs with this engine, where it can be used."""
    reason = ENGINES[name].load().why_not()
    marks = [pytest.mark.skipif(reason is not None, reason=f"no {name}: {reason}")]
    return pytest.param(name, marks=[*marks, pytest.mark.gpu] if ENGINES[name].keeps_maps else marks)


ON_GPU = [pytest.param("emulated cuda", marks=[needs_compiler, pytest.mark.slow]), _param("cuda")]
# The engines that are held to `cpu` and to `reference`: all of the registry, and the CUDA engine without a GPU.
OTHERS = [*ON_GPU, *(_param(name) for name in ENGINES if name not in ("cpu", "cuda", "reference"))]
COMPILED = [_param("cpu"), *OTHERS]
ALL = [_param("reference"), *COMPILED]


def random_scene(
    shape: tuple[int, int] = (37, 45),
    baselines: Any = ((1, 0), (-1, 0), (0, 1), (0, -2), (1, 1), (-2, 1)),
    seed: int = 0,
    **more: Any,
) -> Scene:
    rng = np.random.default_rng(seed)
    images = [gaussian_filter(rng.random(shape), 1.0) for _ in range(1 + len(baselines))]
    return Scene(images[0], images[1:], baselines, **more)


def random_areas(views: int, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Return what cameras may have seen: an ellipse in each view, off the middle."""
    rng = np.random.default_rng(7)
    y, x = (np.linspace(-1, 1, n) for n in shape)
    return np.stack([np.add.outer((y - a) ** 2, (x - b) ** 2) < 1.2 for a, b in rng.uniform(-0.2, 0.2, (views, 2))])


def blank_scene(shape: tuple[int, int], **more: Any) -> Scene:
    """Return a scene for what depends on its size alone."""
    return Scene(np.zeros(shape), [np.zeros(shape)], [(1, 0)], **more)


def some_disparity(scene: Scene, seed: int = 1, size: float = 0.6) -> NDArray[np.float32]:
    w = gaussian_filter(np.random.default_rng(seed).normal(size=scene.shape), 3.0)
    return (size * w / max(np.abs(w).max(), 1e-12)).astype(np.float32)


SCENES = {
    "every planar kind": random_scene(),
    "odd sizes": random_scene((23, 51), ((1, 0), (0, 1), (3, 0), (2, 2))),
    "wider than a tile": random_scene((9, 530), ((1, 0), (0, -1), (-1, -1))),
    "smaller than the filters": random_scene((5, 7), ((1, 0), (0, 1))),
    "one row": random_scene((1, 40), ((1, 0), (-1, 0))),
    "one column": random_scene((40, 1), ((0, 1), (0, -1))),
    "inexact baselines": random_scene((12, 17), ((1, 0.02), (0.03, 1), (2.03, -0.01), (2, 1), (1.02, 2), (2.07, 0.9))),
    "areas not seen": random_scene(seen=random_areas(7, (37, 45))),
    "rotated cameras": synth.render("rotated", (40, 48), grid=3, views="all"),
}
every_scene = pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES.keys())

# Method, scales, and the term that is left out.
DATA_TERMS = [
    ("gcm", 3, None),
    ("gcm", 1, None),
    ("gcm", 3, "scale"),
    ("gcm", 3, "gradient"),
    ("gcm", 5, None),
    ("naive", 2, None),
]


def random_system(shape: tuple[int, int], seed: int, empty: float = 0.3) -> tuple[NDArray[np.float32], DataTerm[Any]]:
    """Return a disparity with flat parts and jumps, and a data term over five decades, absent at some pixels."""
    rng = np.random.default_rng(seed)
    diagonal = 10 ** rng.uniform(-1, 4, shape) * (rng.random(shape) > empty)
    w = np.round(some_disparity(blank_scene(shape), seed, 4.0))
    return w.astype(np.float32), DataTerm(diagonal.astype(np.float32), (rng.normal(size=shape) * diagonal).astype("f4"))


@cache
def dense_solution(shape: tuple[int, int], reweight: bool, alpha: float) -> NDArray[np.float64]:
    """Return dw of `random_system(shape, seed=3)`, by a dense solve in float64."""
    w, term = random_system(shape, seed=3)
    L = smoothness_operator(w.astype(float), reweight).toarray()
    A = np.diag(term.diagonal.ravel().astype(float)) + alpha * L
    b = term.rhs.ravel() - alpha * L @ w.ravel()
    return np.linalg.lstsq(A, b, rcond=None)[0].reshape(shape)


def weak_system(shape: tuple[int, int] = (40, 50)) -> tuple[NDArray[np.float32], DataTerm[Any], float]:
    """Return a flat disparity under strong smoothness, and a data term a million times weaker that asks for 3."""
    w = np.zeros(shape, np.float32)
    diagonal = np.random.default_rng(5).uniform(0.005, 0.02, shape).astype(np.float32)
    return w, DataTerm(diagonal, 3 * diagonal), 16.0


def data_term(engine: AnyEngine, w: NDArray[Any], stage: Any, reweight: bool = True, sample: int = 0) -> DataTerm[Any]:
    """Return the data term at w, on the host."""
    there = engine.upload(w)
    term = engine.data_term(there, engine.warp(there, stage), stage, reweight, sample)
    return DataTerm(engine.download(term.diagonal), engine.download(term.rhs), term.weights)


def solve(engine: AnyEngine, w: NDArray[Any], term: DataTerm[Any], alpha: float, reweight: bool) -> NDArray[Any]:
    """Return dw, on the host."""
    there = DataTerm(engine.upload(term.diagonal), engine.upload(term.rhs))
    return engine.download(engine.solve(engine.upload(w), there, alpha, reweight)[0])
