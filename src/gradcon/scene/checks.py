"""What a scene is given, checked: its geometry and its ground truth."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gradcon.arrays import to_host
from gradcon.errors import InputError
from gradcon.scene import geometry
from gradcon.scene.luma import Image


def checked_transforms(
    baselines: ArrayLike | None, transforms: tuple[ArrayLike, ArrayLike] | None, count: int, name: str
) -> tuple[geometry.Floats, geometry.Floats]:
    """(M, m) of all targets, from their baselines or from the general geometry."""
    if (baselines is None) == (transforms is None):
        raise InputError(f"{name}: give either baselines or transforms (M, m).")
    if baselines is not None:
        B = np.asarray(baselines, dtype=np.float64)
        if B.shape != (count, 2):
            raise InputError(f"{name}: baselines must be ({count}, 2), one (B_x, B_y) a target, not {B.shape}.")
        M, m = geometry.planar(B)
    else:
        assert transforms is not None
        M, m = (np.asarray(part, dtype=np.float64) for part in transforms)
        if M.shape != (count, 3, 3) or m.shape != (count, 3):
            raise InputError(f"{name}: transforms must be ({count}, 3, 3) and ({count}, 3), not {M.shape}, {m.shape}.")
    if not (np.isfinite(M).all() and np.isfinite(m).all()):
        raise InputError(f"{name}: the views' geometry holds a NaN or an infinity; check the baselines or cameras.")
    return M, m


def refuse_degenerate(
    M: geometry.Floats, m: geometry.Floats, B: geometry.Floats, names: list[str], reference_name: str
) -> None:
    """Refuse a view that shows no parallax, nothing of the reference, or what another one shows."""
    lengths = np.hypot(*B.T)
    for k, length in enumerate(lengths):
        if not np.isfinite(length):
            raise InputError(f"{names[k]}: its camera sees nothing of what {reference_name} sees; check R and t.")
        if length <= 1e-9 * lengths.max() or length == 0:
            raise InputError(
                f"{names[k]}: stands at the position of {reference_name}, so it shows no parallax; leave it out."
            )
    flat = np.concatenate([M.reshape(len(M), 9), m], axis=1)
    _, first, group = np.unique(flat, axis=0, return_index=True, return_inverse=True)
    for k, twin in enumerate(first[group.reshape(-1)]):
        if twin != k:
            raise InputError(f"{names[k]}: has the same baseline as {names[twin]}; correct one or leave it out.")


def checked_ground_truth(truth: ArrayLike | None, shape: tuple[int, int], name: str) -> Image | None:
    """Of the views' size; NaN for all that is not finite."""
    if truth is None:
        return None
    with np.errstate(over="ignore"):  # too large for float32, and so unknown
        array = np.asarray(to_host(truth), dtype=np.float32)
    if array.shape != shape:
        raise InputError(f"{name}: ground truth is {array.shape} but the views are {shape}; use the matching file.")
    return np.where(np.isfinite(array), array, np.float32(np.nan))
