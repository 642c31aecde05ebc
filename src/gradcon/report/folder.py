"""Read a folder of results for the page: check it, and sample its maps to a size that a page can hold."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.io.maps import folder as maps
from gradcon.io.outputs import SUMMARY
from gradcon.io.pfm import read_pfm
from gradcon.report import weights
from gradcon.report.fused import FusedPoints
from gradcon.result.fields import Fields, calibration_of_fields
from gradcon.result.metrics import evaluate
from gradcon.result.points import KEEP, relative_inverse_depth, solid, surest
from gradcon.result.saved_sheet import ViewSheet, read_sheet
from gradcon.scene.calibration import Calibration
from gradcon.scene.numbers import finite_number

Map = NDArray[np.float32]
Part = TypeVar("Part")

MAX_SIDE = 800  # pixels of a map in the page
MAX_ROWS = 5000  # rows of the history in the page
MAX_SOLVE = 2**31
KIND = "solve"  # what a row of the history is, if it does not say so
TRUTH = "truth.pfm"


@dataclass
class ResultPage:
    """What the page shows of a result.  Its maps hold every `step`-th pixel."""

    folder: Path
    name: str
    reference: str
    width: int
    height: int
    step: int
    disparity: Map
    uncertainty: Map | None
    truth: Map | None
    keep: NDArray[np.bool_]
    calibration: Calibration | None
    cloud: Calibration
    targets: list[str]
    baselines: list[list[float]]
    parameters: dict[str, Any]
    history: list[dict[str, Any]]
    metrics: dict[str, Any]
    seconds: float | None
    engine: str
    stopped: str
    warnings: list[str]
    views: ViewSheet | None = None
    weights: weights.KeptWeights | None = None
    recorded_truth: Map | None = None  # at the pixels whose earlier disparities `weights` holds
    fused: FusedPoints | None = None  # of every view, if there is a map for each
    unfused: str = ""  # why there are such maps, but no points of them
    notes: list[str] = field(default_factory=list)  # about parts that could not be used

    @property
    def solves(self) -> int:
        """The number of the last solve; 0 if the history is empty."""
        return int(self.history[-1]["solve"]) if self.history else 0

    @property
    def kind(self) -> str:
        """The word for a row of the history, such as solve or pass."""
        return str(self.history[-1]["kind"]) if self.history else KIND


@np.errstate(all="ignore")  # absurd numbers give values that are not finite, and the page shows those as unknown
def read_folder(folder: Path) -> ResultPage:
    """Read a folder that `gradcon estimate` wrote; raise InputError if the folder, or a field, is wrong."""
    summary = maps.read_summary(folder)
    fields = Fields(folder / SUMMARY, summary)
    source = Fields(folder / SUMMARY, fields.mapping("source"), "source.")
    disparity = _map(folder, "disparity", source, summary)
    notes: list[str] = []
    there = maps.entry(summary, "uncertainty") and maps.map_file(folder, "uncertainty").exists()
    uncertainty = _part(notes, lambda: _map(folder, "uncertainty", source, summary)) if there else None
    calibration = calibration_of_fields(fields)
    cloud = calibration or _made_up(disparity)
    height, width = disparity.shape
    step = math.ceil(max(height, width) / MAX_SIDE)
    history = _history(fields)
    targets = source.texts("targets")
    baselines = source.pairs("baselines", len(targets))
    truth = _part(notes, lambda: _truth(folder, disparity.shape, summary))
    result = ResultPage(
        folder=folder,
        name=source.text("name", folder.name),
        reference=source.text("reference", ""),
        width=width,
        height=height,
        step=step,
        disparity=disparity[::step, ::step],
        uncertainty=uncertainty[::step, ::step] if uncertainty is not None else None,
        truth=truth[::step, ::step] if truth is not None else None,
        keep=_kept(disparity, uncertainty, cloud)[::step, ::step],
        calibration=calibration,
        cloud=cloud,
        targets=targets,
        baselines=baselines,
        parameters=fields.mapping("parameters"),
        history=history,
        metrics=evaluate(disparity, truth) if truth is not None else fields.mapping("metrics"),
        seconds=finite_number(fields.mapping("seconds").get("total")),
        engine=fields.text("engine", ""),
        stopped=fields.text("stopped", ""),
        warnings=fields.texts("warnings"),
        notes=notes,
    )
    result.views = _part(notes, lambda: read_sheet(folder, summary))
    if (folder / weights.FILE).exists():
        result.weights = _part(notes, lambda: _weights(folder, result, summary))
    if result.weights is not None and truth is not None:
        every = result.weights.disparity_step
        result.recorded_truth = truth[::every, ::every]
    return result


def _part(notes: list[str], read: Callable[[], Part | None]) -> Part | None:
    """Read a part that the page can do without; if it is damaged, add a note and return None."""
    try:
        return read()
    except InputError as reason:
        notes.append(f"{reason} The page leaves it out.")
        return None


def _map(folder: Path, quantity: str, source: Fields, summary: dict[str, Any]) -> Map:
    path = maps.map_file(folder, quantity)
    values = read_pfm(path)
    if values.shape != (source.count("height"), source.count("width")):
        size = f"{values.shape[1]} x {values.shape[0]}"
        raise InputError(path, f"is {size} pixels, but {SUMMARY} states another size", "estimate the scene again")
    maps.refuse_stranger(path, summary)
    return values


def _weights(folder: Path, result: ResultPage, summary: dict[str, Any]) -> weights.KeptWeights:
    path = folder / weights.FILE
    found = weights.read_weights(path, len(result.targets), (result.height, result.width), result.solves)
    maps.refuse_stranger(path, summary)
    return found


def _history(fields: Fields) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    last = 0
    for row in fields.items("history"):
        number = row.get("solve") if isinstance(row, dict) else None
        if not isinstance(number, int) or isinstance(number, bool) or not last < number <= MAX_SOLVE:
            fields.refuse("history", "is not a list of solves in ascending order")
        last, scales = number, row.get("scales")
        rows.append(
            {
                "solve": number,
                "step": _length(row.get("step_mean")),
                "rmse": _length(row.get("rmse")),
                "views": finite_number(row.get("views")),
                "kind": _kind(row),
                "scales": [q for q in scales if isinstance(q, int)] if isinstance(scales, list) else [],
            }
        )
    stride = math.ceil(len(rows) / MAX_ROWS) if rows else 1
    return rows if stride == 1 else [*rows[:-1:stride], rows[-1]]


def _kind(row: dict[str, Any]) -> str:
    """Return the word for a row of the history."""
    kind = row.get("kind")
    return kind if isinstance(kind, str) and re.fullmatch("[a-z]{1,20}", kind) else KIND


def _length(value: Any) -> float | None:
    """Return a number of pixels that a curve can show, or None."""
    number = finite_number(value)
    return number if number is not None and 0 <= number < 1e9 else None


def _made_up(disparity: Map) -> Calibration:
    """Invent a camera for a cloud that is not to scale: the farthest points are twice as far as the nearest."""
    finite = disparity[np.isfinite(disparity)]
    low, high = np.percentile(finite, (1, 99)) if finite.size else (0.0, 1.0)
    span = max(float(high - low), 1e-6)
    height, width = disparity.shape
    focal = 1.5 * max(height, width)
    K = np.array([[focal, 0, (width - 1) / 2], [0, focal, (height - 1) / 2], [0, 0, 1]])
    return Calibration(product=span, K=K, offset=span - float(low))


def _kept(disparity: Map, uncertainty: Map | None, camera: Calibration) -> NDArray[np.bool_]:
    """Choose the pixels of the cloud in the same way as `PointCloud.of`."""
    sure = surest(uncertainty, KEEP) if uncertainty is not None else True
    return np.asarray(solid(relative_inverse_depth(disparity, camera), camera.K) & sure)


def _truth(folder: Path, shape: tuple[int, ...], summary: dict[str, Any]) -> Map | None:
    path = folder / TRUTH
    if not path.exists():
        return None
    truth = read_pfm(path)
    if truth.shape != shape:
        raise InputError(path, "does not have the size of the disparity", "estimate the scene again")
    maps.refuse_stranger(path, summary)
    return truth if np.isfinite(truth).any() else None
