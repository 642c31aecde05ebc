"""The error beside depth jumps and away from them: most methods fail beside them, and the mean hides by how much."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from gradcon.arrays import to_host
from gradcon.result.metrics import as_map, compared, rmse

JUMP = 0.3  # pixels per unit baseline between neighbouring pixels
SHARE = 0.04  # of the range of the ground truth, which is the limit where disparities are large
BESIDE = 5  # pixels around a jump


def evaluate_at_jumps(disparity: ArrayLike, ground_truth: ArrayLike) -> dict[str, float | None]:
    """Compare a disparity map with the ground truth, beside its jumps and away from them.

    A jump is a pair of neighbouring pixels whose true disparities differ by more than 0.3, or by more than 4 % of the
    range of the ground truth if that is larger.

    Parameters
    ----------
    disparity, ground_truth : (height, width) arrays
        In pixels per unit baseline.

    Returns
    -------
    dict
        `rmse_at_jumps`, over the pixels within five pixels of a jump, and `rmse_elsewhere`, over all others; each is
        None if there is no such pixel.  `jump_pixels` is the percentage of pixels within five pixels of a jump.
    """
    error, known = compared(to_host(as_map(disparity, "disparity")), ground_truth)
    near = beside_jumps(to_host(ground_truth))
    return {
        "rmse_at_jumps": rmse(error[known & near]) if (known & near).any() else None,
        "rmse_elsewhere": rmse(error[known & ~near]) if (known & ~near).any() else None,
        "jump_pixels": 100.0 * float(np.mean(near[known])),
    }


def beside_jumps(ground_truth: ArrayLike) -> NDArray[np.bool_]:
    """Return a mask of the pixels within five pixels of a jump, for a ground truth that is known somewhere."""
    truth = np.asarray(ground_truth, np.float64)
    known = np.isfinite(truth)
    limit = max(JUMP, SHARE * float(np.ptp(truth[known])))
    # The truth is often unknown right beside a jump, where one camera sees nothing; the jump is then inside the gap.
    nearest = ndimage.distance_transform_edt(~known, return_distances=False, return_indices=True)
    filled = truth[tuple(nearest)]
    jump = np.zeros(truth.shape, bool)
    across, down = (np.abs(np.diff(filled, axis=axis)) > limit for axis in (1, 0))
    jump[:, :-1] |= across
    jump[:, 1:] |= across
    jump[:-1] |= down
    jump[1:] |= down
    if not jump.any():
        return jump
    return np.asarray(ndimage.distance_transform_edt(~jump) <= BESIDE)
