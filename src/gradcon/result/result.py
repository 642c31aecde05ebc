"""What an estimate returns: the maps, how the run went, and all that is needed to know them again."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import to_host
from gradcon.io.outputs import RESULT_FORMAT
from gradcon.result.depth import calibration_of, depth_summary
from gradcon.result.points import KEEP, PointCloud
from gradcon.result.stopping import Stopped
from gradcon.scene import Scene
from gradcon.scene.units import DISPARITY_SIGN, DISPARITY_UNIT

if TYPE_CHECKING:
    from gradcon.result.weights import Weights


@dataclass(frozen=True)
class Solve:
    """One row of a run's history; disparities in pixels per unit baseline.

    Attributes
    ----------
    solve : int
        1, 2, 3, ...
    stage : int
        Index into the method's stages.
    scales : tuple of int
        The scales q in use.
    views : int
        In use, the reference counted.
    step_mean : float
        Mean change of the disparity, in magnitude, after limit and median.
    step_max : float
        Its largest change.
    clipped : float
        Share of pixels whose step met the limit.
    inner_iterations : int
        Of the linear solver.
    seconds : float
        That it took.
    rmse : float or None
        Against the ground truth, over the whole frame.
    """

    solve: int
    stage: int
    scales: tuple[int, ...]
    views: int
    step_mean: float
    step_max: float
    clipped: float
    inner_iterations: int
    seconds: float
    rmse: float | None


@dataclass(frozen=True, repr=False)
class Result:
    """A disparity map for the reference view, with its uncertainty and its story.

    Attributes
    ----------
    disparity : (height, width) float32
        Pixels per unit baseline; positive is nearer.
    uncertainty : (height, width) float32
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
    weights : gradcon.weights.Weights or None
        Which views and scales were trusted, where `estimate` was asked to record it.
    """

    disparity: NDArray[np.float32]
    uncertainty: NDArray[np.float32]
    history: list[Solve]
    stopped: Stopped
    parameters: dict[str, Any]
    source: dict[str, Any]
    engine: str
    engine_note: str
    seconds: dict[str, float]
    metrics: dict[str, float] | None
    warnings: list[str]
    scene: Scene = field(repr=False, compare=False)
    weights: Weights | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        height, width = self.disparity.shape
        rmse = f", RMSE {self.metrics['rmse']:.4f}" if self.metrics else ""
        return (
            f"<Result of {self.source['name']!r}: {width} x {height}, {len(self.history)} solves, {self.engine}{rmse}>"
        )

    @property
    def confidence(self) -> NDArray[np.float32]:
        """The name of `uncertainty` in version 0.1."""
        return self.uncertainty

    def depth(self) -> NDArray[np.float32]:
        """Depth along the reference's axis, (height, width), in the unit of `scene.calibration`.

        NaN where the disparity is that of infinity, or beyond it.

        Raises
        ------
        InputError
            The scene has no calibration; its text says what is missing.
        """
        return calibration_of(self.scene).depth(to_host(self.disparity))

    def depth_deviation(self) -> NDArray[np.float32]:
        """Predicted standard deviation of `depth()`, (height, width), in the same unit."""
        return calibration_of(self.scene).depth_deviation(to_host(self.disparity), to_host(self.uncertainty))

    def points(self, keep: float = KEEP, normals: bool = False) -> PointCloud:
        """The surest pixels as points before the reference camera.

        Parameters
        ----------
        keep : float
            Share of the pixels, those of the smallest `uncertainty`: more than 0, and at most 1.  Pixels without a
            depth are left out of these, and so are pixels that lie in the gap between two surfaces (see
            `gradcon.result.points.gaps`).
        normals : bool
            Find the surface's normals too, by differences of adjacent pixels.
        """
        return PointCloud.of(self, keep, normals)

    def save(self, folder: str | Path, *, points: bool = False, normals: bool = False, keep: float = KEEP) -> Path:
        """Write the result into `folder`, all files or none; return it.

        These are disparity.pfm, disparity.png, uncertainty.pfm, views.jpg (small copies of the views) and result.json;
        where the scene is calibrated, depth.pfm, and depth.png where the unit is known too; truth.pfm where there is
        ground truth; weights.npz where the weights were recorded; and points.ply where `points` asks for it, with
        `keep` and `normals` as in `points()`.  What an earlier result left there is removed.
        """
        from gradcon.result.folder import save_result

        return save_result(self, Path(folder), points=points, normals=normals, keep=keep)

    def summary(self) -> dict[str, Any]:
        """All but the maps, in plain types: what result.json holds."""
        from gradcon.identity import versions

        calibration = self.scene.calibration
        return {
            "format": RESULT_FORMAT,
            "source": {**self.source, "sha256": self.scene.fingerprint()},
            "disparity": {
                "unit": DISPARITY_UNIT,
                "sign": DISPARITY_SIGN,
                "reference": self.source["reference"],
                "min": float(self.disparity.min()),
                "max": float(self.disparity.max()),
            },
            "uncertainty": {"meaning": "predicted standard deviation of the disparity", "unit": DISPARITY_UNIT},
            "calibration": calibration.summary() if calibration is not None else None,
            "depth": depth_summary(self.depth(), calibration.unit) if calibration is not None else None,
            "parameters": self.parameters,
            "engine": self.engine,
            "engine_note": self.engine_note,
            "stopped": str(self.stopped),
            "stop_reason": self.stopped.reason.name.lower(),
            "warnings": self.warnings,
            "metrics": self.metrics,
            "seconds": self.seconds,
            "versions": versions(),
            "history": [asdict(row) for row in self.history],
        }
