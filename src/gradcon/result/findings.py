"""What a look at the views found out before they were estimated, in fields for programs and in lines for people."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from gradcon.scene.units import DISPARITY_UNIT

LEVELS = 255  # brightness is told in levels of 8 bits, which everyone knows


@dataclass(frozen=True)
class Brightness:
    """A view that shows gain * I + offset of what the reference shows as I, channel by channel."""

    view: str
    gain: list[float]
    offset: list[float]  # from 0 to 1


@dataclass(frozen=True)
class Findings:
    """What a look at the views found out.

    Attributes
    ----------
    disparity_range : (float, float)
        The disparities in the scene, with a margin, in pixels per unit baseline.
    noise : float
        Standard deviation of the images' noise, for pixels from 0 to 1.
    texture : float
        How much the flatter quarter of the reference varies, in units of the noise.
    given : list of str
        Which of these the user gave.
    brightness : list of Brightness
        How bright each target is, compared with the reference.
    noticeable : bool
        Whether the differences are worth compensating.
    compensated : bool
        Whether they are compensated.
    out_of_place : float or None
        How far the targets lie beside the place where they should, in pixels: the root mean square.  None if that was
        not checked.
    aligned : bool
        Whether that was compensated, too.
    odd_views : list of str
        Views that disagree with all others.
    left_out : bool
        Whether these are left out.
    differ : bool
        Whether the views differ at all.
    layout : str or None
        The argument of --flip with which the views agree best, if it is not the one in use; empty for none.
    doubts : list of str
        What the user should look at, in sentences.
    """

    disparity_range: tuple[float, float]
    noise: float
    texture: float
    given: list[str] = field(default_factory=list)
    brightness: list[Brightness] = field(default_factory=list)
    noticeable: bool = False
    compensated: bool = False
    out_of_place: float | None = None
    aligned: bool = False
    odd_views: list[str] = field(default_factory=list)
    left_out: bool = False
    differ: bool = True
    layout: str | None = None
    doubts: list[str] = field(default_factory=list)

    def fields(self) -> dict[str, Any]:
        """Return everything but the doubts, which are among a result's warnings, in plain types."""
        found = asdict(self)
        del found["doubts"]
        return {**found, "disparity_range": list(self.disparity_range)}

    def lines(self) -> list[tuple[str, str]]:
        """Return three lines for people, each with its name."""
        low, high = self.disparity_range
        how = "given" if "disparity_range" in self.given else "found in the views"
        return [
            ("range", f"{low:.3g} to {high:.3g} {DISPARITY_UNIT}, {how}"),
            ("images", f"noise of {LEVELS * self.noise:.1f} in {LEVELS}; {self._gains()}"),
            ("cameras", f"{self._places()}; {self._oddities()}"),
        ]

    def _gains(self) -> str:
        gains = [sum(view.gain) / len(view.gain) for view in self.brightness]
        if not gains:
            return "brightness not compared"
        if self.compensated:
            return f"gains of {min(gains):.2f} to {max(gains):.2f} against the reference, compensated"
        if self.noticeable:
            return f"gains of {min(gains):.2f} to {max(gains):.2f} against the reference, not compensated"
        return "the views are equally bright"

    def _places(self) -> str:
        if self.layout is not None:
            return f"laid out differently ({f'--flip {self.layout}' if self.layout else 'no --flip'})"
        if self.out_of_place is None:
            return "their places were not checked"
        if self.aligned:
            return f"aligned, by {self.out_of_place:.1f} pixels"
        return f"in place within {max(self.out_of_place, 0.05):.1f} pixels"

    def _oddities(self) -> str:
        if not self.odd_views:
            return "no odd view"
        return f"odd{' and left out' * self.left_out}: {', '.join(self.odd_views)}"
