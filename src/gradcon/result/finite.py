"""The last check of an estimate: every pixel has a disparity and an uncertainty."""

from __future__ import annotations

from typing import Any

from gradcon.arrays import module_of
from gradcon.errors import InputError

REMEDY = "leave out the settings that you gave, or check the pixel values and baselines of the scene"


def refuse_unknown(name: str, disparity: Any, uncertainty: Any) -> None:
    """Refuse maps with a NaN or an infinity, which a run on numbers beyond float32 leaves.

    `name` is that of the scene, for the message.
    """
    for quantity, values in (("disparity", disparity), ("uncertainty", uncertainty)):
        xp = module_of(values)
        if not xp.isfinite(values).all():
            bad = int(xp.count_nonzero(~xp.isfinite(values)))
            problem = f"the {quantity} of {bad} of {values.size} pixels is not a finite number"
            raise InputError(name, problem, REMEDY)
