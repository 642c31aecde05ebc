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


class Bank(NamedTuple):
    """Filters that make one level after the other; q counts them from 0.

    A level is filtered from a finer one, or from the image that all of them are made of.
    """

    source: Indices  # (level,): the finer level; -1 for the image
    even: Array  # (level, 1 + pairs): taps from the one in the middle on, and zeros behind the last one
    odd: Array
    pairs: Indices | None  # (level,): of mirrored taps; None if every level has three, which takes less code
    spacing: Indices  # (level,): pixels from one tap to the next
    reach: Indices  # (level,): pixels from the tap in the middle to the last one
    radius: Indices  # (level,): how far the filter that makes the level from the image would reach


class Scales(NamedTuple):
    """The scales of a stage, and the filters that lead to them."""

    used: Indices  # the stage's scales, coarsest first
    smoothing: Bank  # of the warped targets
    blurring: Bank  # of what the scale term is made of
    derivatives: Array  # (fields * 2 * height, width): of the reference, along x and then y, one below the other
    place: Indices  # (level,): which of these fields is the level's; -1 if it has none


class Model(NamedTuple):
    """What the noise powers N^2 are computed from."""

    weighted: bool  # by the model; otherwise all weights are 1, and the rest is not used
    variance: Array  # (height, width): of w
    noises: Array  # (scale,): acquisition noise
    epsilon: np.float32
    use_gradient: bool
    lowest: int  # the finest scale that has a scale term; none has if it is above all levels
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
