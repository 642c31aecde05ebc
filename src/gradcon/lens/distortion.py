"""Lens distortion: where a lens shows what a pinhole camera would show at (x, y).

Coordinates are normalised: a pixel is K (x, y, 1).  One formula describes all models:

    (a, b) = bend(r) / r (x, y)      r = |(x, y)|; bend(r) = r, or the angle atan(r) to the axis, or that of a FOV lens
    radial = (1 + n1 q + n2 q^2 + n3 q^3 + n4 q^4) / (1 + d1 q + d2 q^2 + d3 q^3)               q = a^2 + b^2
    x'     = radial a + 2 p1 a b + p2 (q + 2 a^2) + s1 q
    y'     = radial b + p1 (q + 2 b^2) + 2 p2 a b + s2 q

A model names the parameters that it has, in the order in which OpenCV and COLMAP list them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gradcon.errors import InputError
from gradcon.scene.geometry import Floats

NONE, ANGLE, FIELD = range(3)  # kinds of bend
NEAR_AXIS = 1e-8  # where bend(r) / r is its limit


class Model(NamedTuple):
    """The parameters of a model, in order, and which symbol of the formula each one is."""

    bend: int
    symbols: dict[str, str]


_RADIAL = {"k1": "n1", "k2": "n2", "k3": "n3", "k4": "n4"}
_TANGENTIAL = {"p1": "p1", "p2": "p2"}
MODELS = {
    "brown": Model(NONE, {"k1": "n1", "k2": "n2", **_TANGENTIAL, "k3": "n3", "k4": "d1", "k5": "d2", "k6": "d3"}),
    "fisheye": Model(ANGLE, _RADIAL),
    "thin-prism-fisheye": Model(
        ANGLE, {"k1": "n1", "k2": "n2", **_TANGENTIAL, "k3": "n3", "k4": "n4", "sx1": "s1", "sy1": "s2"}
    ),
    "fov": Model(FIELD, {"omega": "field"}),
}


@dataclass(frozen=True)
class Distortion:
    """A model and its parameters; those that are not given are 0."""

    model: str
    parameters: tuple[float, ...]

    @classmethod
    def of(cls, model: str, parameters: Sequence[float], where: str) -> Distortion:
        """Check the parameters of a known model; `where` names the camera in errors."""
        if not np.isfinite(parameters).all():
            raise InputError(where, "a parameter of its lens distortion is not finite", "correct it")
        if model == "fov" and not abs(parameters[0]) < np.pi:
            problem = f"the field of view omega = {parameters[0]:g} of its lens is not below pi"
            raise InputError(where, problem, "give it in radians")
        return cls(model, tuple(float(value) for value in parameters))

    @property
    def named(self) -> dict[str, float]:
        """The parameters by their names."""
        return dict(zip(MODELS[self.model].symbols, self.parameters, strict=False))

    @property
    def has_angles(self) -> bool:
        """Whether the lens can show directions 90 degrees off its axis."""
        return MODELS[self.model].bend != NONE

    def without(self, name: str) -> Distortion:
        """Return the distortion with one parameter set to 0."""
        kept = tuple(0.0 if other == name else value for other, value in self.named.items())
        return replace(self, parameters=kept)

    def distorted(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Return where the lens shows what a pinhole camera shows at (x, y)."""
        bend = MODELS[self.model].bend
        if bend == NONE:
            return self.bent(x, y)
        r = np.hypot(x, y)
        ratio = np.divide(self.bend(r), r, out=np.full_like(r, self.bend(NEAR_AXIS) / NEAR_AXIS), where=r > NEAR_AXIS)
        return self.bent(ratio * x, ratio * y)

    def bend(self, r: Floats | float) -> Floats:
        """Return how far from the middle a perfect lens of this kind shows what a pinhole camera shows at r."""
        if MODELS[self.model].bend == ANGLE:
            return np.arctan(r)
        omega = self._symbols().get("field", 0.0)
        return np.arctan(2 * np.tan(omega / 2) * np.asarray(r)) / omega if omega else np.asarray(r, np.float64)

    def bent(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Return where the lens shows what a perfect lens of its kind shows at (a, b)."""
        symbols = self._symbols()

        def polynomial(*names: str) -> Floats | float:
            total: Floats | float = 0.0
            for name in reversed(names):  # Horner's scheme, which skips the leading zeros
                value = symbols.get(name, 0.0)
                total = (total + value) * q if np.ndim(total) or value else 0.0
            return 1.0 + total

        with np.errstate(all="ignore"):  # what overflows is refused as a fold
            aa, bb, ab = a * a, b * b, a * b
            q = aa + bb
            radial = polynomial("n1", "n2", "n3", "n4") / polynomial("d1", "d2", "d3")
            u, v = radial * a, radial * b
            p1, p2 = symbols.get("p1", 0.0), symbols.get("p2", 0.0)
            if p1 or p2:
                u, v = u + 2 * p1 * ab + p2 * (q + 2 * aa), v + p1 * (q + 2 * bb) + 2 * p2 * ab
            s1, s2 = symbols.get("s1", 0.0), symbols.get("s2", 0.0)
            return (u + s1 * q, v + s2 * q) if s1 or s2 else (u, v)

    def _symbols(self) -> dict[str, float]:
        """Return the parameters by their symbols in the formula."""
        symbols = MODELS[self.model].symbols
        return {symbols[name]: value for name, value in self.named.items()}
