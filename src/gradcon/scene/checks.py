"""Checks of the geometry, the ground truth and the areas seen that a scene is given."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.arrays import on_device, to_host
from gradcon.errors import InputError
from gradcon.scene import geometry
from gradcon.scene.luma import Image
from gradcon.scene.numbers import LARGEST, SMALLEST, checked_numbers, in_measure, shortly


def checked_transforms(
    baselines: ArrayLike | None, transforms: tuple[ArrayLike, ArrayLike] | None, count: int, name: str
) -> tuple[geometry.Floats, geometry.Floats]:
    """Return (M, m) of all targets, from their baselines or from the general geometry."""
    if (baselines is None) == (transforms is None):
        what = "neither baselines nor transforms are" if baselines is None else "both baselines and transforms are"
        raise InputError(name, f"{what} given", "give one of the two")
    if baselines is not None:
        B = checked_numbers(name, "its baselines", baselines, "give one (B_x, B_y) for each target")
        if B.shape != (count, 2):
            raise InputError(
                name, f"baselines must be ({count}, 2), not {B.shape}", "give one (B_x, B_y) for each target"
            )
        M, m = geometry.planar(B)
    else:
        if not isinstance(transforms, (tuple, list)) or len(transforms) != 2:
            problem = f"transforms is {shortly(transforms)}, not a pair of arrays (M, m)"
            raise InputError(name, problem, "give one (M, m) for each target")
        M, m = (checked_numbers(name, "its transforms", part) for part in transforms)
        if M.shape != (count, 3, 3) or m.shape != (count, 3):
            raise InputError(
                name,
                f"transforms must be ({count}, 3, 3) and ({count}, 3), not {M.shape} and {m.shape}",
                "give one (M, m) for each target",
            )
    if not (np.isfinite(M).all() and np.isfinite(m).all()):
        raise InputError(name, "its geometry holds a NaN or an infinity", "check the baselines or the cameras")
    if not in_measure(M):
        problem = "its geometry holds a number that is too large to compute with"
        raise InputError(name, problem, "check R and K of its cameras")
    return M, m


def refuse_degenerate(
    M: geometry.Floats, m: geometry.Floats, B: geometry.Floats, names: list[str], reference_name: str
) -> None:
    """Refuse a view without parallax, one that sees nothing of the reference's scene, or two views in one place."""
    lengths = np.hypot(*B.T)
    for k, length in enumerate(lengths):
        if not np.isfinite(length):
            raise InputError(names[k], f"its camera sees nothing of what {reference_name} sees", "check R and t")
        if length <= 1e-9 * lengths.max() or length == 0:
            raise InputError(
                names[k], f"stands at the position of {reference_name}, so it shows no parallax", "leave it out"
            )
        if not SMALLEST <= length <= LARGEST:
            size = "short" if length < SMALLEST else "long"
            problem = f"its baseline of {length:g} is too {size} to compute with"
            raise InputError(names[k], problem, "give the baselines in another unit")
    flat = np.concatenate([M.reshape(len(M), 9), m], axis=1)
    _, first, group = np.unique(flat, axis=0, return_index=True, return_inverse=True)
    for k, twin in enumerate(first[group.reshape(-1)]):
        if twin != k:
            raise InputError(names[k], f"has the same baseline as {names[twin]}", "correct one or leave it out")


def checked_seen(seen: ArrayLike | None, shape: tuple[int, int, int], name: str) -> NDArray[np.bool_] | None:
    """Return which pixels were seen, (1 + T, height, width); None if they all were."""
    if seen is None:
        return None
    array = np.asarray(to_host(seen))
    if array.dtype != bool or array.shape != shape:
        problem = f"what was seen is {array.shape} {array.dtype}, not {shape} bool"
        raise InputError(name, problem, "give one truth value for each pixel of each view")
    if not array.any(axis=(1, 2)).all():
        raise InputError(name, f"its view {int(array.any(axis=(1, 2)).argmin())} saw nothing", "leave it out")
    return None if array.all() else array


def checked_ground_truth(
    truth: ArrayLike | None, shape: tuple[int, int], name: str, seen: NDArray[np.bool_] | None = None
) -> Image | None:
    """Return the ground truth as float32, with NaN for what is not finite, or what the reference did not see."""
    if truth is None:
        return None
    truth = to_host(truth) if on_device(truth) else truth
    with np.errstate(over="ignore"):  # a value too large for float32 counts as unknown
        array = checked_numbers(name, "the values of its ground truth", truth).astype(np.float32)
    if array.shape != shape:
        raise InputError(
            name, f"its ground truth has the shape {array.shape} but the views have {shape}", "use the matching file"
        )
    known = np.isfinite(array) if seen is None else np.isfinite(array) & seen[0]
    return np.where(known, array, np.float32(np.nan))
