"""What the kernels of the data term take, by name.  Numba compiles named tuples like plain arguments."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.engines.views import Order

Array = NDArray[np.float32]
Indices = NDArray[np.intp]


class Views(NamedTuple):
    """The targets of a stage."""

    chosen: Indices  # their indices among all targets
    kinds: Indices  # of all targets, as in `engines.views`
    M: NDArray[np.float64]  # of all targets
    m: NDArray[np.float64]
    frames: NDArray[np.int64]  # of all targets: the first and last column, and the first and last row, that count
    differences: Array  # (views * height, width): the warped targets less the reference, one below the other


class Scales(NamedTuple):
    """The scales of a stage, and the cascade of filters that leads to them; q counts its levels from 0."""

    used: Indices  # the stage's scales, coarsest first
    even: Array  # (level, 1 + PAIRS): one-sided taps
    odd: Array
    spacing: Indices  # (level,): of these taps
    radius: Indices  # (level,): of the whole filter
    derivatives: Array  # (fields * 2 * height, width): of the reference, along x and then y, one below the other
    place: Indices  # (level,): which of these fields is the level's; -1 if it has none


class Model(NamedTuple):
    """What the noise powers N^2 are computed from."""

    weighted: bool  # by the model; otherwise all weights are 1, and the rest is not used
    variance: Array  # (height, width): of w
    noises: Array  # (scale,): acquisition noise
    epsilon: np.float32
    use_gradient: bool
    use_scale: bool  # whether scales above 0 have a scale term
    order: Order  # of trust in the views


class Sums(NamedTuple):
    """What the data term writes, each (height, width)."""

    diagonal: Array
    rhs: Array
    precision: Array  # the information 1 / variance that the data holds


class Sample(NamedTuple):
    """Where to keep the weights at the middle pixel of every `step` x `step` block; if `step` is 0, none are kept."""

    weights: Array  # (down, across, scale, view)
    step: int
