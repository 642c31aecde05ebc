"""What an estimate returns: the maps, how the run went, and all that is needed to know them again."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.scene import Scene

DISPARITY_UNIT = "pixels per unit baseline"
DISPARITY_SIGN = "positive is nearer"


@dataclass(frozen=True)
class Solve:
    """One row of a run's history; disparities in pixels per unit baseline."""

    solve: int  # 1, 2, 3, ...
    stage: int  # index into the method's stages
    scales: tuple[int, ...]  # the scales q in use
    views: int  # in use, the reference counted
    step_mean: float  # mean and largest |change of disparity|, after limit and median
    step_max: float
    clipped: float  # share of pixels whose step met the limit
    inner_iterations: int
    seconds: float
    rmse: float | None  # against the ground truth, over the whole frame


@dataclass(frozen=True)
class Result:
    """A disparity map for the reference view, with its confidence and its story.

    Attributes
    ----------
    disparity : (height, width) float32
        Pixels per unit baseline; positive is nearer.
    confidence : (height, width) float32
        Predicted standard deviation of `disparity`, in the same unit: small is good.  Both maps are CuPy arrays
        where `estimate` was asked to leave them on the GPU.
    history : list of Solve
        One row a solve.
    stopped : str
        Why the run ended, as a sentence.
    parameters : dict
        Every option in force, the defaults resolved.
    source : dict
        Name, reference, views and size of the input.
    engine : str
        Which engine ran.
    engine_note : str
        On which GPU, or why on none where the choice was `auto`'s; else empty.
    seconds : dict
        Wall time in all (`total`) and by stage.
    metrics : dict or None
        What `gradcon.evaluate` says, where the scene has ground truth.
    warnings : list of str
        What the user should look at.
    scene : Scene
        What was estimated.
    """

    disparity: NDArray[np.float32]
    confidence: NDArray[np.float32]
    history: list[Solve]
    stopped: str
    parameters: dict[str, Any]
    source: dict[str, Any]
    engine: str
    engine_note: str
    seconds: dict[str, float]
    metrics: dict[str, float] | None
    warnings: list[str]
    scene: Scene = field(repr=False, compare=False)

    def save(self, folder: str | Path) -> Path:
        """Write disparity.pfm, disparity.png, confidence.pfm and result.json into `folder`; return it."""
        from gradcon.io.results import save_result

        return save_result(self, Path(folder))

    def summary(self) -> dict[str, Any]:
        """All but the maps, in plain types: what result.json holds."""
        from gradcon.io.results import versions

        return {
            "format": "gradcon-result-1",
            "source": {**self.source, "sha256": self.scene.fingerprint()},
            "disparity": {
                "unit": DISPARITY_UNIT,
                "sign": DISPARITY_SIGN,
                "reference": self.source["reference"],
                "min": float(self.disparity.min()),
                "max": float(self.disparity.max()),
            },
            "confidence": {"meaning": "predicted standard deviation of the disparity", "unit": DISPARITY_UNIT},
            "parameters": self.parameters,
            "engine": self.engine,
            "engine_note": self.engine_note,
            "stopped": self.stopped,
            "warnings": self.warnings,
            "metrics": self.metrics,
            "seconds": self.seconds,
            "versions": versions(),
            "history": [asdict(row) for row in self.history],
        }
