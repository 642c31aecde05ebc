"""What the paper states about its results, in its order; every statement gets a verdict from one of the experiments.

The sentences are shortened.  A `Claim` refers to a statement by its name here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Statement:
    """A statement of the paper."""

    where: str  # the part of the paper that makes it
    text: str


_ABSTRACT, _MODEL, _REST = "Abstract", "Gradient Consistency Model", "Conclusion"
_ONE, _THREE, _APPENDIX = "Single Scale Results", "Multi-Scale Results", "Appendix B"

STATEMENTS = {
    "outperforms": Statement(
        _ABSTRACT,
        "The GCM outperforms coarse to fine and progressive inclusion in both rate of convergence and accuracy.",
    ),
    "robust-to-alpha": Statement(
        "Introduction and Conclusion", "The GCM is highly robust to changes in the regularisation parameter."
    ),
    "couplings": Statement(_MODEL, "The GCM can be generalised to other linear couplings than a planar array's."),
    "naive-worst": Statement(_ONE, "The naive approach performs worst, and converges slowest."),
    "progressive-rapid": Statement(
        _ONE, "Progressive inclusion converges rapidly, but fails to achieve the best final RMSE."
    ),
    "progressive-loses": Statement(_ONE, "Progressive inclusion has reduced accuracy as further views are added."),
    "best-at-one-scale": Statement(_ONE, "At one scale the GCM achieves the best final result."),
    "ahead-after-30": Statement(_ONE, "After 30 solves the GCM has a better RMSE than the other approaches."),
    "early-by-limit": Statement(
        _ONE, "Progressive inclusion is faster at first because its limit M is 1 and not 0.25 there."
    ),
    "jumps-at-one-scale": Statement(
        _ONE, "The better result of the GCM is largely due to better performance around discontinuities."
    ),
    "backgammon": Statement(_ONE, "On backgammon the error around discontinuities is significantly lower for the GCM."),
    "inner-views": Statement(_ONE, "Near boundaries of objects the GCM favours the inner views."),
    "larger-limit": Statement(_THREE, "A larger limit M tends to reduce the accuracy of coarse to fine."),
    "smaller-limit": Statement(_THREE, "A smaller limit M tends to slow the convergence of coarse to fine."),
    "best-at-three-scales": Statement(_THREE, "At three scales the GCM achieves the best final result."),
    "earlier": Statement(_THREE, "The GCM achieves accurate results significantly earlier than coarse to fine."),
    "gcm-30-to-40": Statement(_THREE, "The GCM requires roughly 30 to 40 solves for an RMSE similar to its final one."),
    "coarse-100-to-200": Statement(_THREE, "Coarse to fine requires 100 to 200 solves, depending on the scene."),
    "ahead-everywhere": Statement(_THREE, "At all points the GCM is more accurate than coarse to fine."),
    "pens-tenth-solve": Statement(
        _THREE, "On pens the GCM has mostly converged by the tenth solve, and coarse to fine is still converging."
    ),
    "jumps-at-three-scales": Statement(
        _THREE, "Much of the improvement is due to improved performance around object boundaries."
    ),
    "pens-jumps": Statement(
        _THREE, "On pens the error bands near object boundaries are much smaller with the GCM than with coarse to fine."
    ),
    "three-scales-help": Statement(
        _THREE, "Three scales improve the accuracy of the GCM, and significantly its rate of convergence."
    ),
    "both-terms": Statement(_THREE, "Both the term of G and the term of O are crucial to the GCM."),
    "no-gradient-slower": Statement(_THREE, "Without the term of G (G = 0), convergence slows significantly."),
    "no-gradient-unfinished": Statement(
        _THREE, "With G = 0 not all scenes have converged after 300 solves; all other approaches have."
    ),
    "no-gradient-background": Statement(
        _THREE, "With G = 0 the background of pens converges much more slowly than with the GCM."
    ),
    "no-gradient-fine": Statement(_THREE, "With G = 0 the GCM excessively favours fine data over coarse data."),
    "no-scale-rate": Statement(_THREE, "Without the term of O (O = 0), the GCM converges at a similar rate."),
    "no-scale-worst": Statement(_THREE, "With O = 0 accuracy becomes worse than that of all other methods considered."),
    "no-scale-pens": Statement(
        _THREE, "With O = 0 pens is highly inaccurate around boundaries, and more solves do not resolve this."
    ),
    "no-scale-coarse": Statement(
        _THREE, "With O = 0 coarse data are over-weighted and fine data under-weighted around boundaries."
    ),
    "barrel": Statement(_THREE, "With a small barrel distortion the GCM still outperforms the other approaches."),
    "baselines": Statement(_THREE, "With slightly noisy baselines the GCM still outperforms the other approaches."),
    "best-alpha": Statement(_THREE, "The alpha that performs best for both coarse to fine and the GCM is 0.5."),
    "alpha-sensitivity": Statement(_THREE, "Coarse to fine is significantly more sensitive to alpha than the GCM."),
    "epsilon": Statement(_THREE, "The GCM is substantially insensitive to epsilon."),
    "middlebury-accuracy": Statement(
        "Middlebury 2006", "The GCM significantly outperforms coarse to fine in accuracy."
    ),
    "middlebury-rate": Statement("Middlebury 2006", "The GCM significantly outperforms coarse to fine in rate."),
    "other-problems": Statement(
        _REST, "The methods apply to any variational approach with several coupled observations of a scene."
    ),
    "scale-ratio": Statement(_APPENDIX, "J'_B becomes vanishingly small in comparison to J'_A as sigma_q grows."),
}
