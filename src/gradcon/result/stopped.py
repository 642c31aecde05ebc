"""Why a run stopped: an enumeration for programs, each reason with a sentence for people."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class StopReason(Enum):
    """Why a run stopped; the value is the sentence that a user reads."""

    CONVERGED = (
        "Converged after {solves} solves: the last {looked} moved the disparity by {change:.1e} pixels on average."
    )
    JITTERS = (
        "Not converged: after {solves} solves the disparity only jitters, by {step:.1e} pixels a solve, and more "
        "solves do not help. The images are noisier than `epsilon` says, or the views do not fit together as the "
        "baselines say. Raise `epsilon`, or check the baselines with `gradcon info`."
    )
    OUT_OF_SOLVES = (
        "The {solves} solves allowed were used up; the mean step was still {change:.1e} pixels. "
        "Raise `solves` if it should converge further."
    )
    OUT_OF_SOLVES_EARLY = (
        "The {solves} solves allowed were used up in stage {stage} of {stages}, before the finest scales or all views "
        "were reached. Raise `solves`."
    )
    SWEPT = "All {passes} passes are done."
    SWEPT_NEAR = "All passes around the maps of other views are done; there were {passes}."
    SWEPT_ANEW = (
        "All {passes} passes are done. The map to start from did not fit the views, so all disparities were searched."
    )
    CALLBACK = "The callback asked to stop after row {solves} of the history."


@dataclass(frozen=True)
class Stopped:
    """The end of a run: compare `reason`, print the rest.

    Examples
    --------
    >>> end = Stopped.because(StopReason.CALLBACK, solves=7)
    >>> end.reason is StopReason.CALLBACK
    True
    >>> print(end)
    The callback asked to stop after row 7 of the history.
    """

    reason: StopReason
    text: str

    @classmethod
    def because(cls, reason: StopReason, **facts: float) -> Stopped:
        """Fill in the sentence of a reason."""
        return cls(reason, reason.value.format(**facts))

    def __str__(self) -> str:
        return self.text
