"""The filters of all scales: those that make a scale from the image, and those that smooth what a scale is weighed by.

By default they are the cascade's (`engines.cascade`), which come close to Gaussians; `Choices.filters` can ask for the
Gaussians themselves.  They have the width of scale q, or a wider one, by `Choices.widths`.
"""

from __future__ import annotations

from typing import NamedTuple

from gradcon.engines import cascade, model
from gradcon.engines.cascade import Taps
from gradcon.engines.choices import Choices


class Filters(NamedTuple):
    """The filters that some choices ask for, from -radius to radius."""

    cascaded: bool  # whether scale q is made from scale q - 1
    composed: bool  # whether the scales are wider than what smooths their weights

    def smoothing(self, q: int) -> Taps:
        """Return the filter that makes scale q from the image."""
        if self.cascaded:
            return cascade.smoothing(q, self.composed)
        return model.gaussian(model.width(q, self.composed))

    def derivative(self, q: int) -> Taps:
        """Return the filter that makes a derivative at scale q, in correlation order: a rising ramp is positive."""
        if self.cascaded:
            return cascade.derivative(q, self.composed)
        return model.gaussian_derivative(model.width(q, self.composed))

    def blurring(self, q: int) -> Taps:
        """Return G_{sigma_q}, the filter of the scale inconsistency."""
        return self.equal().smoothing(q)

    def equal(self) -> Filters:
        """Return the filters whose widths are the paper's sigma_q."""
        return self._replace(composed=False)

    def radius(self, q: int) -> int:
        """Return how far the filters that make scale q reach."""
        return len(self.smoothing(q)) // 2


def filters_of(choices: Choices) -> Filters:
    """Return the filters that these choices ask for."""
    return Filters(choices.filters == "cascade", choices.widths == "composed")
