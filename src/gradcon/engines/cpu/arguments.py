"""What the kernels of the data term take, by name.  Numba compiles named tuples like plain arguments."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradcon.engines.views import Order

TILE_ROWS, TILE_COLUMNS = 4, 512

# Rows of the table S that all functions use in the same way; fields of views and scales come after them.
SMOOTH, DX, DY, CX, CY, PAD_S, PAD_D, FREE = range(8)

Array = NDArray[np.float32]


class Views(NamedTuple):
    """The targets of a stage."""

    chosen: NDArray[np.intp]  # their indices among all targets
    kinds: NDArray[np.intp]  # of all targets, as in `engines.views`
    M: NDArray[np.float64]  # of all targets
    m: NDArray[np.float64]
    warped: Array  # (view, height, width)


class Scales(NamedTuple):
    """The scales of a stage, coarsest first."""

    references: Array  # (scale, 3, height, width): the smoothed reference and its derivatives in x and y
    evens: Array  # (scale, taps): one-sided filters, padded with zeros
    odds: Array
    taps: NDArray[np.intp]  # (scale,): the number of taps without that padding


class Model(NamedTuple):
    """What the noise powers N^2 are computed from."""

    g2: Array  # (view, height, width): g^2 at scale 0
    blurred_dw2: Array  # (scale, height, width): the squared residual disparity, smoothed
    variance: Array  # (height, width): of w
    noises: Array  # (scale,): acquisition noise
    epsilon: np.float32
    use_gradient: bool
    use_scale: NDArray[np.bool_]  # (scale,): whether it has a scale term
    order: Order  # of trust in the views


class Sums(NamedTuple):
    """What the weighted term writes, each (height, width)."""

    diagonal: Array
    rhs: Array
    precision: Array  # the information 1 / variance that the data holds


class Sample(NamedTuple):
    """Where to keep the weights at the middle pixel of every `step` x `step` block; if `step` is 0, none are kept."""

    weights: Array  # (down, across, scale, view)
    step: int


class Registers(NamedTuple):
    """What the rows of the table S hold in `weighted_term`: the first row of each group, and the sizes of groups."""

    sum_dI2: int  # a row for each row of the tile
    sum_g2: int
    bound: int  # delta w_e^2
    total: int  # of the weights
    D: int  # accumulators of diagonal, right-hand side and precision
    b: int
    p: int
    tops: int  # the largest N^2 so far, a row for each direction
    dI: int  # a row for each row of the tile, scale and view; so are the next three
    g: int
    G: int  # becomes N^2, and then the weight
    blurred_g2: int
    views: int
    equations: int  # scales times views
    rows: int  # in all


def registers(directions: int, scales: int, views: int) -> Registers:
    """Lay out the table S of `weighted_term`."""
    sum_dI2, equations = FREE, scales * views
    bound = sum_dI2 + 2 * TILE_ROWS
    tops = bound + 5
    dI = tops + directions
    return Registers(
        sum_dI2=sum_dI2,
        sum_g2=sum_dI2 + TILE_ROWS,
        bound=bound,
        total=bound + 1,
        D=bound + 2,
        b=bound + 3,
        p=bound + 4,
        tops=tops,
        dI=dI,
        g=dI + equations,
        G=dI + 2 * equations,
        blurred_g2=dI + 3 * equations,
        views=views,
        equations=equations,
        rows=dI + 4 * TILE_ROWS * equations,
    )
