"""What the tests of sweep engines share: the engines, views of every kind, and what is asked of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from gradcon.engines.cuda import device as cuda_device
from gradcon.engines.cuda.sweep import CudaSweep
from gradcon.engines.reference_sweep import ReferenceSweep
from gradcon.engines.sweep import ArmCosts, Best, SweepEngine, Views
from simt import COMPILER, EmulatedGpu

SCALE = {np.uint8: 1 / 255, np.uint16: 1 / 65535, np.float32: 1.0}

# An engine that is not in the tree yet is left out.
Make = Callable[[Views], SweepEngine]
ENGINES: dict[str, Make] = {"reference": ReferenceSweep}
if find_spec("gradcon.engines.cpu.sweep"):
    ENGINES["cpu"] = import_module("gradcon.engines.cpu.sweep").CpuSweep
if COMPILER is not None:
    ENGINES["emulated cuda"] = lambda views: CudaSweep(views, EmulatedGpu())
    ENGINES["emulated cuda, backwards"] = lambda views: CudaSweep(views, EmulatedGpu(descending=True))
if cuda_device.why_not() is None:
    ENGINES["cuda"] = CudaSweep

MARKS = {"emulated cuda": pytest.mark.slow, "emulated cuda, backwards": pytest.mark.slow, "cuda": pytest.mark.gpu}
PARAMETERS = [pytest.param(name, marks=MARKS.get(name, ())) for name in ENGINES]
every_engine = pytest.mark.parametrize("name", PARAMETERS)
compiled = pytest.mark.parametrize("name", PARAMETERS[1:])


def ask(engine: SweepEngine, operation: str, *arguments: Any) -> Any:
    """Return what an operation returns, on the host; it may not change its arguments."""
    before = [np.array(a) for a in arguments if isinstance(a, np.ndarray)]
    found = getattr(engine, operation)(*arguments)
    for a, b in zip((a for a in arguments if isinstance(a, np.ndarray)), before, strict=True):
        np.testing.assert_array_equal(a, b)
    return Best(*map(engine.device.get, found)) if isinstance(found, Best) else engine.device.get(found)


@dataclass(frozen=True)
class Waves:
    """A picture without end, whose waves are at least four pixels long, so that it can be shifted exactly."""

    seed: int = 0
    channels: int = 3
    shortest: float = 4.0

    def __call__(self, x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
        """Return the colours at (x, y), from 0 to 1, as (channels, ...)."""
        rng = np.random.default_rng(self.seed)
        length = self.shortest * 6 ** rng.random(12)
        angle, phase = rng.uniform(0, 2 * np.pi, (2, 12))
        amplitude = rng.uniform(-1, 1, (self.channels, 12))
        amplitude *= 0.5 / np.abs(amplitude).sum(axis=1, keepdims=True)
        along = np.multiply.outer(np.cos(angle) / length, x) + np.multiply.outer(np.sin(angle) / length, y)
        return 0.5 + np.tensordot(amplitude, np.sin(2 * np.pi * along + phase.reshape(-1, *[1] * np.ndim(x))), axes=1)


def stored(images: ArrayLike, kind: Any) -> NDArray[Any]:
    """Convert colours from 0 to 1 to pixels of a type."""
    pixels = np.asarray(images) / SCALE[kind]
    return np.rint(pixels).astype(kind) if np.issubdtype(kind, np.integer) else pixels.astype(kind)


def flat_views(
    shape: tuple[int, int],
    epipoles: ArrayLike,
    arms: ArrayLike,
    kind: Any = np.uint8,
    channels: int = 3,
    disparity: float = 0.6,
    noise: float = 0.01,
) -> Views:
    """Return views of a plane that all see at the same disparity."""
    epipoles = np.array([(*e, 0.0)[:3] for e in np.asarray(epipoles, float)])
    y, x = np.indices(shape).astype(float)
    waves, rng = Waves(channels=channels), np.random.default_rng(1)
    positions = [(x * (1 + e_z * disparity) - e_x * disparity, y * (1 + e_z * disparity) - e_y * disparity)
                 for e_x, e_y, e_z in ((0.0, 0.0, 0.0), *epipoles)]  # fmt: skip
    images = np.stack([waves(*position) for position in positions])
    images = np.clip(images + noise * rng.normal(size=images.shape), 0, 1)
    return Views(stored(images, kind), SCALE[kind], epipoles, np.asarray(arms, np.int32))


def blank_views(shape: tuple[int, int]) -> Views:
    """Return views for what depends on their size alone."""
    return Views(np.zeros((2, 1, *shape), np.uint8), 1 / 255, np.array([[1.0, 0.0, 0.0]]), np.array([0, 1], np.int32))


def with_holes(views: Views) -> Views:
    """Return the views with NaN at a corner and in the middle of each target."""
    colours = views.colours.copy()
    colours[1:, :, :5, :9] = np.nan
    colours[1:, :, 20:23, 17] = np.nan
    return views._replace(colours=colours)


def around(shape: tuple[int, int], middle: float, spread: float, seed: int = 2) -> NDArray[np.float32]:
    """Return starts of bands, all different and mostly between two labels."""
    return (middle + spread * np.random.default_rng(seed).uniform(-1, 1, shape)).astype(np.float32)


@dataclass(frozen=True)
class Case:
    """The arguments of `costs` for some views."""

    views: Views
    start: float | NDArray[np.float32] = -3.0
    labels: int = 9
    step: float = 0.23  # no label but 0 leads exactly from pixel to pixel
    arms: ArmCosts = field(default_factory=lambda: ArmCosts(near=1.5, blur=0.7, c0=0.3, sharpness=2))
    unit: float = 512.0

    @property
    def shape(self) -> tuple[int, int]:
        height, width = self.views.colours.shape[-2:]
        return height, width

    def costs(self, make: Make) -> NDArray[np.uint16]:
        start = np.array(np.broadcast_to(np.float32(self.start), self.shape))
        noise = np.random.default_rng(3).uniform(0.03, 0.3, self.shape).astype(np.float32)
        return ask(make(self.views), "costs", start, self.labels, self.step, noise, self.arms, self.unit)


CROSS = [(1, 0), (2, 0), (-1, 0), (-2, 0), (0, 1), (0, 2), (0, -1), (0, -2)]
GRID = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)]
LINE = [(1, 0), (2, 0), (3.5, 0), (-1, 0)]
TURNED = [(1.1, 0.2, 0.01), (2.3, -0.1, 0.02), (-1.2, 0.3, -0.015), (0.1, 1.4, 0.004)]
PAIRS, ONE_EACH = [0, 2, 4, 6, 8], np.arange(9)

odd = flat_views((37, 53), CROSS, PAIRS)
line = flat_views((37, 53), LINE, [0, 3, 4], np.float32)
turned = flat_views((37, 53), TURNED, [0, 2, 3, 4], np.float32)
CASES = {
    "cross": Case(odd),
    "cross, bands of their own": Case(odd, around((37, 53), -3, 8)),
    "bands beside a depth edge": Case(odd, np.where(np.arange(53) < 20, -30.25, 1.75)),
    "grid of grey views": Case(
        flat_views((23, 70), GRID, ONE_EACH, np.uint16, 1), around((23, 70), -2, 1), 7, arms=ArmCosts(0, 1.4, 0.2, 1)
    ),
    "line": Case(line, around((37, 53), 0.5, 2), 6, arms=ArmCosts(1.5, 0.0, 0.2, 1)),
    "line without blur": Case(line, -2.0, 6, arms=ArmCosts(0, 0.0, 0.2, 2)),
    "two views, many labels": Case(flat_views((9, 33), [(-1, 0)], [0, 1], np.uint8, 1), -100.0, 200, unit=128.0),
    "wider than a tile": Case(flat_views((9, 300), CROSS, PAIRS, np.uint8, 1), around((9, 300), 1, 1), 5),
    "taller than a tile": Case(flat_views((90, 7), CROSS, PAIRS, np.uint8, 1), 1.0, 5),
    "turned": Case(turned, around((37, 53), 0.5, 3)),
    "turned, with holes": Case(with_holes(turned), around((37, 53), 3, 1.5)),
    "holes in shifted views": Case(with_holes(line), around((37, 53), 3, 1.5)),
    "behind the camera": Case(flat_views((21, 34), [(-3.5, -3, -0.3), (0, 1, 0.01)], [0, 1, 2], np.float32), 10.5, 9),
    "one row": Case(flat_views((1, 40), LINE, [0, 3, 4]), around((1, 40), 0.5, 2), 12),
    "one column": Case(flat_views((40, 1), [(0, 1), (0, -1)], [0, 1, 2], np.float32, 1), -5.5, 12),
    "one pixel": Case(flat_views((1, 1), CROSS, PAIRS, disparity=0.0), -1.0, 3),
    "constant": Case(odd._replace(colours=np.full_like(odd.colours, 77)), -1.0, 3),
    "out of the frame": Case(odd, 400.5),
    "partly out of the frame": Case(odd, around((37, 53), -3, 150), 5),
    "one label": Case(odd, 2.5, 1),
    "whole pixels": Case(odd, -8.0, 17, 0.5),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


@dataclass(frozen=True)
class Matching:
    """The arguments of `aggregate`."""

    costs: NDArray[np.uint16]
    edges: NDArray[np.float32]
    small: float
    large: float

    def best(self, make: Make) -> Best:
        engine = make(blank_views(self.costs.shape[:2]))
        return ask(engine, "aggregate", self.costs, self.edges, self.small, self.large)


def random_matching(shape: tuple[int, int, int], highest: int, small: float, large: float, seed: int = 0) -> Matching:
    """Return costs from 0 to `highest`; the penalties of pixels outside the frame are NaN."""
    rng = np.random.default_rng(seed)
    edges = rng.uniform(0.003, 1, (4, *shape[:2])).astype(np.float32)
    edges[0, :, 0] = edges[1, 0] = edges[2, 0] = edges[2, :, 0] = edges[3, 0] = edges[3, :, -1] = np.nan
    return Matching(rng.integers(0, highest, shape, np.uint16, endpoint=True), edges, small, large)


MATCHINGS = {
    "odd sizes": random_matching((37, 53, 41), 512, 204.8, 2560),
    "the largest sums": random_matching((20, 31, 12), 128, 256, 8000),
    "many labels": random_matching((13, 11, 200), 128, 256, 4608),
    "ties": random_matching((16, 40, 9), 2, 1, 2),
    "changes are free": random_matching((9, 12, 33), 100, 0, 0),
    "one row": random_matching((1, 40, 7), 512, 200, 900),
    "one column": random_matching((40, 1, 7), 512, 200, 900),
    "one pixel": random_matching((1, 1, 5), 512, 200, 900),
    "one label": random_matching((9, 14, 1), 512, 200, 900),
    "two labels": random_matching((14, 9, 2), 512, 200, 900),
    "wider than a tile": random_matching((5, 300, 6), 512, 200, 900),
    "real costs": replace(random_matching((37, 53, 9), 1, 200, 900), costs=CASES["cross"].costs(ReferenceSweep)),
}
every_matching = pytest.mark.parametrize("matching", MATCHINGS.values(), ids=MATCHINGS.keys())


def stepped_map(shape: tuple[int, int], seed: int = 4) -> NDArray[np.float32]:
    """Return a disparity map with a slope, a jump and some noise."""
    y, x = np.indices(shape)
    noise = np.random.default_rng(seed).normal(size=shape)
    return (0.03 * x - 0.02 * y + 2.0 * (x > shape[1] // 2) + 0.05 * noise).astype(np.float32)
