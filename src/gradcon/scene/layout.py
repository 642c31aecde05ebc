"""The eight ways to lay out a grid of cameras: axes reversed, and x and y exchanged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradcon.errors import InputError
from gradcon.scene.geometry import Floats

TEXTS = ("x", "y", "xy", "t", "tx", "ty", "txy")


@dataclass(frozen=True)
class Layout:
    """What is done to the baselines: x and y are exchanged first, and then reversed."""

    x: bool = False  # reversed
    y: bool = False
    transposed: bool = False

    def of(self, baselines: Floats) -> Floats:
        """Return baselines (T, 2) in this layout."""
        turned = baselines[:, ::-1] if self.transposed else baselines
        return turned * np.array([-1.0 if self.x else 1.0, -1.0 if self.y else 1.0]) + 0.0  # -0 becomes 0

    def then(self, other: Layout) -> Layout:
        """Return the layout that does the same as this one followed by the other."""
        x, y = (self.y, self.x) if other.transposed else (self.x, self.y)
        return Layout(x ^ other.x, y ^ other.y, self.transposed ^ other.transposed)

    @classmethod
    def parse(cls, text: str | None) -> Layout:
        """Return the layout of an option --flip, such as "xy"; "t" stands for transposed.  None changes nothing."""
        if text is None:
            return cls()
        if text not in TEXTS:
            raise InputError("flip", f"{text!r} is not one of {', '.join(TEXTS)}")
        return cls("x" in text, "y" in text, "t" in text)

    @property
    def text(self) -> str:
        """What `parse` reads; empty if nothing changes."""
        return "t" * self.transposed + "x" * self.x + "y" * self.y
