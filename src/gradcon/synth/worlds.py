"""The worlds of the synthetic scenes: textured surfaces under one lamp, and the array of cameras that sees them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gradcon.synth.raycast import Surface, ball, bars, box, patch, ring
from gradcon.synth.textures import Painter

NO_FOCUS = 1e6  # focus depth of an array that is not converged, whose disparity is b f / Z


@dataclass(frozen=True)
class World:
    """Surfaces, a lamp, and the array of cameras that sees them; lengths are in metres."""

    surfaces: list[Surface]
    lamp: tuple[float, float, float] = (-1.6, -2.2, -0.6)
    baseline: float = 0.018
    focus: float = 2.15
    rotated: bool = False


SKY = [(0.13, 0.28, 0.42), (0.25, 0.50, 0.58), (0.62, 0.74, 0.66), (0.93, 0.86, 0.66)]
EMBER = [(0.35, 0.06, 0.10), (0.80, 0.22, 0.12), (0.97, 0.58, 0.18), (1.0, 0.88, 0.55)]
LEAF = [(0.08, 0.20, 0.12), (0.20, 0.42, 0.18), (0.55, 0.68, 0.25), (0.85, 0.85, 0.50)]
PLUM = [(0.20, 0.10, 0.28), (0.48, 0.22, 0.45), (0.80, 0.50, 0.60), (0.96, 0.82, 0.78)]
OAK = [(0.86, 0.66, 0.42), (0.42, 0.25, 0.13)]
SLATE = [(0.72, 0.76, 0.80), (0.30, 0.36, 0.44)]
CHALK, TEAL = [(0.80, 0.79, 0.74), (0.83, 0.81, 0.76)], [(0.42, 0.56, 0.62), (0.45, 0.58, 0.63)]
CLAY = [(0.84, 0.50, 0.36), (0.86, 0.53, 0.38)]
BRICK = [(0.72, 0.36, 0.26), (0.50, 0.22, 0.18), (0.80, 0.77, 0.70)]


def planes(paint: Painter) -> World:
    """Slanted textured planes, with steps in depth where one stands in front of another."""
    return World(
        [
            patch(paint.boards(10, SLATE), (0, 0, 2.9), (0.25, -0.15), np.pi / 2),
            patch(paint.clouds(20, EMBER), (0.32, -0.05, 2.1), (0.5, 0.1), 0.2, box(0.62, 0.85)),
            patch(paint.clouds(30, LEAF), (-0.38, 0.15, 1.95), (-0.55, -0.2), -0.15, box(0.55, 0.7)),
        ]
    )


def occlusion(paint: Painter) -> World:
    """Objects in front of each other and of a wall, with thin bars and a ring to look through."""
    return World(
        [
            patch(paint.bricks(10, BRICK), (0, 0, 3.1), (0.1, 0.0)),
            patch(paint.boards(20, OAK), (0, 0.62, 2.4), (0.0, -4.0)),
            ball(paint.clouds(30, SKY), (-0.42, 0.36, 2.35), 0.27),
            patch(paint.clouds(40, PLUM), (0.35, 0.05, 2.5), (-0.2, 0.0), 0.0, box(0.5, 0.95)),
            patch(paint.boards(50, OAK, 16), (0.30, 0.05, 2.1), (0.1, 0.0), 0.0, bars(6, 0.11, 0.022, 1.1)),
            patch(paint.clouds(60, EMBER), (-0.26, -0.22, 1.9), (0.2, 0.1), 0.0, ring(0.25, 0.17)),
            patch(paint.clouds(70, LEAF), (0.0, 0.1, 1.7), (0.15, 0.0), 0.6, box(0.014, 1.6)),
        ]
    )


def sphere(paint: Painter) -> World:
    """A sphere in front of a slanted wall."""
    return World(
        [
            patch(paint.bricks(10, BRICK), (0, 0, 2.9), (0.35, -0.1)),
            ball(paint.clouds(20, SKY), (0.02, 0.04, 2.1), 0.46),
        ]
    )


def low_texture(paint: Painter) -> World:
    """Large regions of nearly uniform colour, with weak gradients."""
    return World(
        [
            patch(paint.clouds(10, CHALK, 0.008), (0, 0, 2.9), (0.3, 0.0)),
            patch(paint.clouds(20, TEAL, 0.008), (0, 0.6, 2.4), (0.0, -4.0)),
            ball(paint.clouds(30, CLAY, 0.008), (-0.3, 0.25, 2.1), 0.32),
            patch(paint.clouds(40, PLUM), (0.36, -0.02, 2.1), (-0.3, 0.0), 0.1, box(0.36, 0.6)),
        ]
    )


def parallel(paint: Painter) -> World:
    """The world of `sphere`, seen by parallel cameras that are not converged: infinity has disparity 0."""
    return replace(sphere(paint), baseline=0.006, focus=NO_FOCUS)


def rotated(paint: Painter) -> World:
    """The world and the baselines of `parallel`, seen by cameras that are rotated and not coplanar."""
    return replace(parallel(paint), rotated=True)


SCENES: dict[str, Callable[[Painter], World]] = {
    "planes": planes,
    "occlusion": occlusion,
    "sphere": sphere,
    "low-texture": low_texture,
    "parallel": parallel,
    "rotated": rotated,
}
