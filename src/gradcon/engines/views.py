"""What the compiled engines know about views: how each moves a pixel, and in which order they are trusted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gradcon.engines import model
from gradcon.scene import geometry

ROW, COLUMN, PLANAR, GENERAL = 0, 1, 2, 3  # kinds of view, by what moves a pixel: B_x w, B_y w, B w, (M, m)


def kind_of(M: geometry.Floats, m: geometry.Floats) -> int:
    """Return the kind of a view."""
    if not geometry.is_planar(M, m):
        return GENERAL
    return ROW if m[1] == 0 else COLUMN if m[0] == 0 else PLANAR


def rings_and_sectors(baselines: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return where rings of equally long baselines begin among the sorted views, and which views each sector holds."""
    length = np.hypot(*baselines.T)
    rings = np.flatnonzero(np.diff(length, prepend=-1.0, append=np.inf) > 1e-9)
    groups = model.sector_groups(baselines)
    sectors = np.zeros((len(groups), len(length)), bool)
    for row, group in zip(sectors, groups, strict=True):
        row[group] = True
    return rings, sectors
