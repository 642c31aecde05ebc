"""What an estimate returns: the maps, the history of the run, and the parameters and versions behind them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gradcon.arrays import to_host
from gradcon.pictures.card import Card
from gradcon.pictures.colour_maps import DEFAULT_MAP
from gradcon.pictures.maps import disparity_picture
from gradcon.progress import counted
from gradcon.result.depth import calibration_of
from gradcon.result.facts import facts_of
from gradcon.result.findings import Findings
from gradcon.result.folder import save_result
from gradcon.result.points import KEEP, PointCloud
from gradcon.result.stopped import Stopped
from gradcon.result.summary import Summary, summary_fields
from gradcon.scene import Scene

if TYPE_CHECKING:
    from gradcon.result.weights import Weights

LONGEST_SHOWN = 1200  # pixels of a side, of which a picture on the screen shows about half


@dataclass(frozen=True)
class Solve:
    """One row of a run's history: a solve, or a pass of a sweep.  Disparities are in pixels per unit baseline.

    Attributes
    ----------
    solve : int
        The number of the row: 1, 2, 3, ...
    stage : int
        The index of the method's stage.
    scales : tuple of int
        The scales q in use; a sweep has one, the number of times that the views were halved.
    views : int
        The number of views in use, counting the reference.
    step_mean : float or None
        The mean magnitude of the change in disparity, after the limit and the median filter; None if there was no
        disparity before.
    step_max : float or None
        The largest magnitude of that change.
    clipped : float
        The share of pixels whose step reached the limit.
    inner_iterations : int
        The number of iterations of the linear solver; 0 if the engine solves directly, as `reference` does.
    seconds : float
        The wall time.
    rmse : float or None
        The RMSE over the whole frame; None without ground truth.
    kind : {"solve", "pass"}
        The word for what the row describes.
    """

    solve: int
    stage: int
    scales: tuple[int, ...]
    views: int
    step_mean: float | None
    step_max: float | None
    clipped: float
    inner_iterations: int
    seconds: float
    rmse: float | None
    kind: str = "solve"


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The disparity map of the reference view, its uncertainty, and the history of the run.

    A result is equal to itself alone, as a scene is; compare the maps of two results with NumPy.

    Attributes
    ----------
    disparity : (height, width) float32
        Disparity in pixels per unit baseline; positive is nearer.
    uncertainty : (height, width) float32
        Predicted standard deviation of `disparity`, in the same unit: small is good.  Both maps are CuPy arrays if
        `estimate` was asked to leave them on the GPU.
    history : list of Solve
        One row for each solve, or for each pass of a sweep.
    stopped : Stopped
        Why the run ended: a `reason` for programs, and a sentence when it is printed.
    parameters : dict
        Every option, with defaults filled in.
    source : dict
        Name, reference, views and size of the input.
    engine : str
        The engine that ran.
    engine_note : str
        The GPU it used, or why `auto` fell back to the CPU; otherwise empty.
    seconds : dict
        The wall time, in total (`total`) and by part of the work, such as `look`, `solve` or `evaluation`; `other` is
        the time that no part has.
    metrics : dict or None
        What `gradcon.evaluate` returns; None without ground truth.
    warnings : list of str
        What the user should look at.
    scene : Scene
        The scene that was estimated.
    weights : gradcon.result.weights.Weights or None
        Which views and scales were trusted, if `estimate` was asked to record it.
    findings : gradcon.result.findings.Findings or None
        What a look at the views found out before the run: their range, noise, brightness and oddities.
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
    scene: Scene = field(repr=False)
    weights: Weights | None = field(default=None, repr=False)
    findings: Findings | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        height, width = self.disparity.shape
        rmse = f", RMSE {self.metrics['rmse']:.4f}" if self.metrics else ""
        return f"<Result of {self.source['name']!r}: {width} x {height}, {self.effort}, {self.engine}{rmse}>"

    @property
    def effort(self) -> str:
        """The number of rows of the history, in words: "40 solves" or "3 passes"."""
        return counted(len(self.history), self.history[-1].kind if self.history else "solve")

    @property
    def confidence(self) -> NDArray[np.float32]:
        """The name of `uncertainty` in version 0.1."""
        return self.uncertainty

    def depth(self) -> NDArray[np.float32]:
        """Return the depth along the optical axis, (height, width), in the unit of `scene.calibration`.

        It is NaN at and beyond the disparity of infinity.

        Raises
        ------
        InputError
            The scene has no calibration; the error says what is missing.
        """
        return calibration_of(self.scene).depth(to_host(self.disparity))

    def depth_deviation(self) -> NDArray[np.float32]:
        """Return the predicted standard deviation of `depth()`, (height, width), in the same unit."""
        return calibration_of(self.scene).depth_deviation(to_host(self.disparity), to_host(self.uncertainty))

    def points(self, keep: float = KEEP, normals: bool = False) -> PointCloud:
        """Return the surest pixels as points in the reference camera's frame.

        Parameters
        ----------
        keep : float
            The share of the pixels to keep, above 0 and at most 1: those with the smallest `uncertainty`.  Of these,
            pixels without a depth are left out, and so are pixels in the gap between two surfaces (see
            `gradcon.result.points.gaps`).
        normals : bool
            Whether to compute the normals of the surface, by differences of adjacent pixels.
        """
        return PointCloud.of(self, keep, normals)

    def show(self, cmap: str = DEFAULT_MAP) -> None:
        """Show the disparity with its colour bar: in the notebook, or else in the system's viewer of images.

        Without a display, the picture is written to a temporary file, and a line on stderr says where it is.

        Parameters
        ----------
        cmap : {"viridis", "cividis", "magma", "turbo", "grey", "coolwarm"}
            The colours.  Those of `coolwarm` are centred on 0; all others run from the farthest to the nearest.
        """
        self._card(cmap).show()

    def _card(self, cmap: str = DEFAULT_MAP) -> Card:
        name = str(self.source.get("name", ""))
        step = -(-max(self.disparity.shape) // LONGEST_SHOWN)
        picture = disparity_picture(to_host(self.disparity[::step, ::step]), name, cmap)
        return Card(picture, f"The disparity of {name}", facts_of(self), self.warnings)

    def _repr_html_(self) -> str:
        return self._card().html

    def _repr_png_(self) -> bytes:
        return self._card().png

    def save(
        self,
        folder: str | Path,
        *,
        points: bool = False,
        normals: bool = False,
        keep: float = KEEP,
        cmap: str = DEFAULT_MAP,
    ) -> Path:
        """Write all files of the result into `folder`, or none of them; return the folder.

        The files are disparity.pfm, disparity.png, uncertainty.pfm, views.jpg (small copies of the views) and
        result.json.  A calibrated scene adds depth.pfm, and depth.png if its unit is known; ground truth adds
        truth.pfm; recorded weights add weights.npz; and `points` adds points.ply, with `keep` and `normals` as in
        `points()`.  `cmap` names the colours of disparity.png, as in `show()`.  The files of an earlier result are
        removed.  A folder that holds files but no result is refused.
        """
        save_result(self, folder, points=points, normals=normals, keep=keep, cmap=cmap)
        return Path(folder)

    def summary(self) -> Summary:
        """Return everything but the maps in plain types, as in result.json.

        It is a dictionary; printed, it is a table of the main facts and all warnings.
        """
        return Summary(summary_fields(self), [*facts_of(self), *(("warning", text) for text in self.warnings)])
