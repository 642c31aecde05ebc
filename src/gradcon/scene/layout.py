"""The eight ways to lay out a grid of cameras: axes reversed, and x and y exchanged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradcon.scene.geometry import Floats


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

    @property
    def options(self) -> str:
        """The command-line options for this layout; empty if nothing changes."""
        axes = "x" * self.x + "y" * self.y
        return " ".join(["--transpose"] * self.transposed + [f"--flip {axes}"] * bool(axes))
