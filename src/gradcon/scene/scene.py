"""A scene: one reference image, the other views of it, and where each of their cameras stands.

Conventions, everywhere in the package: images are luma in [0, 1]; x runs to the right and y down; a reference pixel
(x, y) of disparity w is seen in view t at (x, y) + B_t w.  Positive disparity is nearer.  So B_t points *against* the
camera's movement: a camera one step to the right of the reference has B = (-1, 0).  The unit of w is pixels per
unit of the baselines as they were given.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.arrays import as_array, module_of, to_device, to_host
from gradcon.errors import InputError
from gradcon.scene import geometry
from gradcon.scene.calibration import Calibration, check_unit
from gradcon.scene.checks import checked_ground_truth, checked_transforms, refuse_degenerate
from gradcon.scene.luma import Image, Source, any_on_device, brightest, stack_luma, to_luma, white_of

Views = str | int


class Scene:
    """A reference view, at least one more view, and their geometry.

    Parameters
    ----------
    reference : array, (height, width) or (height, width, 3)
        Integers are scaled to [0, 1]: 8 bits by 255, wider ones by the largest value of 8, 10, 12, 14 or 16 bits, the
        first that holds the brightest pixel of all views.  Floats are taken as they are, and divided by the largest if
        that passes 1.
    targets : sequence of arrays of the reference's size, or of functions that return one
        The other views.  A function is called once, when its turn has come, so that a scene larger than memory in
        colour can be read view by view.  Views may be in a GPU's memory (CuPy arrays, or anything with
        `__cuda_array_interface__` or DLPack); then all of them are put there.
    baselines : (T, 2) array of (B_x, B_y), optional
        One row a target: the reference pixel (x, y) of disparity w is seen at (x + B_x w, y + B_y w).
    transforms : pair of arrays (M, m), (T, 3, 3) and (T, 3), optional
        The general geometry, instead of `baselines`: seen at dehomogenise(M (x, y, 1) + m w).
    ground_truth : (height, width) array, optional
        True disparity in pixels per unit baseline; NaN where it is unknown.
    name : str
        Said in messages and written into every result.
    reference_name : str
        The same, for the reference view.
    target_names : sequence of str, optional
    calibration : Calibration, optional
        How disparity becomes metric depth, where it is known.
    metadata : dict, optional
        Whatever else the source knows (camera parameters, units), plain types only.
    white : float, optional
        What all views are divided by, as a share of their type's range, instead of what their brightest pixel suggests:
        so that the frames of a video are all treated alike.

    Notes
    -----
    The views are kept sorted by baseline (length, then direction), so that nothing depends on the order in which
    they were listed.
    """

    def __init__(
        self,
        reference: ArrayLike,
        targets: Sequence[Source] | NDArray[Any],
        baselines: ArrayLike | None = None,
        *,
        transforms: tuple[ArrayLike, ArrayLike] | None = None,
        ground_truth: ArrayLike | None = None,
        name: str = "scene",
        reference_name: str = "reference",
        target_names: Sequence[str] | None = None,
        calibration: Calibration | None = None,
        metadata: dict[str, Any] | None = None,
        white: float | None = None,
    ) -> None:
        names = list(target_names) if target_names is not None else [f"target {k}" for k in range(len(targets))]
        if len(targets) < 1:
            raise InputError(f"{name}: there is only the reference view; at least two views are needed.")
        if len(names) != len(targets):
            raise InputError(f"{name}: {len(targets)} targets but {len(names)} target names.")
        self.name = name
        self.reference_name = reference_name
        self.metadata = dict(metadata or {})

        first = to_device(reference) if any_on_device([reference, *targets]) else reference
        luma = to_luma(first, reference_name)
        self.shape: tuple[int, int] = luma.shape
        M, m = checked_transforms(baselines, transforms, len(targets), name)
        B = np.array([geometry.baseline(Mt, mt, self.shape) for Mt, mt in zip(M, m, strict=True)])
        refuse_degenerate(M, m, B, names, reference_name)

        self._order = order = _canonical_order(M, m, B)
        self.target_names = [names[k] for k in order]
        dtype = as_array(first).dtype
        stack = stack_luma(luma, [targets[k] for k in order], self.target_names, reference_name, dtype)
        self.white = white if white is not None else white_of(brightest(luma, stack), dtype)
        if self.white != 1.0:  # so that the model's constants keep their meaning
            luma = luma / np.float32(self.white)
            stack /= np.float32(self.white)
        self.reference: Image = luma
        self.targets: Image = stack
        self.M, self.m, self.baselines = M[order], m[order], B[order]
        if not (calibration is None or isinstance(calibration, Calibration)):
            raise InputError(f"{name}: calibration is a {type(calibration).__name__}; give a gradcon.Calibration.")
        self.calibration = calibration
        self._given = first
        # How a target's own pixels are read again, for pictures; None for one that was given as an array.
        self.sources: list[Callable[[], ArrayLike] | None] = [_readable(targets[k]) for k in order]
        self.ground_truth = checked_ground_truth(ground_truth, self.shape, name)

    @classmethod
    def from_lightfield(
        cls,
        views: ArrayLike,
        reference: tuple[int, int] | None = None,
        *,
        ground_truth: ArrayLike | None = None,
        calibration: Calibration | None = None,
        name: str = "light field",
    ) -> Scene:
        """A scene from a regular grid of views, `array[v, u, y, x]` or `array[v, u, y, x, channel]`.

        Row index v grows downwards and column index u to the right, as the cameras stand.  `reference` is the (v, u)
        of the reference view, by default the middle of the grid.
        """
        array = as_array(views)
        if array.ndim not in (4, 5):
            raise InputError(f"{name}: a light field is array[v, u, y, x] or array[v, u, y, x, c], not {array.shape}.")
        rows, columns = array.shape[:2]
        v0, u0 = reference if reference is not None else (rows // 2, columns // 2)
        if not (0 <= v0 < rows and 0 <= u0 < columns):
            raise InputError(f"{name}: the reference ({v0}, {u0}) is outside the {rows} x {columns} grid of views.")
        cells = [(v, u) for v in range(rows) for u in range(columns) if (v, u) != (v0, u0)]
        return cls(
            array[v0, u0],
            [array[v, u] for v, u in cells],
            [(u0 - u, v0 - v) for v, u in cells],
            ground_truth=ground_truth,
            calibration=calibration,
            name=name,
            reference_name=f"view ({v0}, {u0})",
            target_names=[f"view ({v}, {u})" for v, u in cells],
        )

    @classmethod
    def from_cameras(
        cls,
        reference: ArrayLike,
        targets: Sequence[Source],
        cameras: Sequence[geometry.Camera],
        *,
        unit: str = "",
        nearest: float | None = None,
        **more: Any,
    ) -> Scene:
        """A scene from calibrated pinhole cameras; `cameras` lists the reference's first, then the targets'.

        The nearest view gets a baseline of length 1, so disparity is in pixels of movement in that view.  `unit` is
        that of the cameras' translations, and so of the depth ("m", "cm", "mm"; "" where it is not known).  `nearest`
        sets the length of the unit baseline (depth times disparity) instead, so that disparities of different views of
        one rig compare.  The other parameters are those of `Scene`.
        """
        who = more.get("name", "scene")
        if len(cameras) != 1 + len(targets):
            raise InputError(f"{who}: {len(cameras)} cameras are given for {1 + len(targets)} views.")
        pairs = [camera.relative_to(cameras[0]) for camera in cameras[1:]]
        if nearest is None:
            height, width = as_array(reference).shape[:2]
            nearest = geometry.shortest([geometry.baseline(M, m, (height, width)) for M, m in pairs])
        transforms = np.array([M for M, _ in pairs]), np.array([m / nearest for _, m in pairs])
        calibration = Calibration(nearest, cameras[0].K, unit=check_unit(unit, who))
        return cls(reference, targets, transforms=transforms, calibration=calibration, **more)

    def flipped(self, x: bool = False, y: bool = False) -> Scene:
        """The same views with their baselines turned around along x, y or both: for cameras counted from the wrong end.

        Only for planar arrays; the ground truth, which knows better, is kept.
        """
        if not all(geometry.is_planar(M, m) for M, m in zip(self.M, self.m, strict=True)):
            raise InputError(f"{self.name}: only the baselines of a planar array can be flipped, not camera matrices.")
        signs = np.array([-1.0 if x else 1.0, -1.0 if y else 1.0])
        scene = Scene(
            self.reference,
            self.targets,
            self.baselines * signs + 0.0,  # no -0, so that it is known for the same scene as one that is counted so
            ground_truth=self.ground_truth,
            name=self.name,
            reference_name=self.reference_name,
            target_names=self.target_names,
            calibration=self.calibration.flipped(x, y) if self.calibration is not None else None,
            metadata=self.metadata,
        )
        scene._given, scene.sources = self._given, [self.sources[k] for k in scene._order]
        return scene

    def to_host(self) -> Scene:
        """The same scene with its views in the host's memory."""
        return self._moved(to_host)

    def to_device(self) -> Scene:
        """The same scene with its views in the GPU's memory."""
        return self._moved(to_device)

    def _moved(self, move: Any) -> Scene:
        if module_of(self.reference) is module_of(moved := move(self.reference)):
            return self
        scene = copy.copy(self)
        scene.reference, scene.targets = moved, move(self.targets)
        return scene

    @property
    def colour(self) -> NDArray[Any]:
        """The reference as it was given, for pictures."""
        return to_host(self._given)

    @property
    def unit(self) -> float:
        """Length of the shortest baseline: the engines work in baselines divided by it."""
        return float(np.hypot(*self.baselines.T).min())

    @property
    def known_truth(self) -> NDArray[np.float32] | None:
        """The ground truth, if it is known at any pixel."""
        truth = self.ground_truth
        return truth if truth is not None and np.isfinite(truth).any() else None

    def fingerprint(self) -> str:
        """SHA-256 of the pixels and the geometry: what the estimate depends on."""
        digest = hashlib.sha256()
        for array in (to_host(self.reference), to_host(self.targets), self.M, self.m):
            digest.update(str(array.shape).encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def __repr__(self) -> str:
        height, width = self.shape
        truth = "with" if self.ground_truth is not None else "without"
        return f"<Scene {self.name!r}: {1 + len(self.targets)} views of {width} x {height}, {truth} ground truth>"


def check_flip(flip: str | None) -> None:
    """Refuse axes to flip along that do not exist."""
    if flip not in (None, "x", "y", "xy"):
        raise InputError(f"flip: {flip!r} is not one of x, y, xy.")


def _readable(source: Source) -> Callable[[], ArrayLike] | None:
    return source if callable(source) else None


def choose_views(baselines: ArrayLike, which: Views) -> list[int]:
    """Indices of the targets to use: `all`, `cross` (same row or column), `star` (and diagonals), or the N nearest.

    N counts the reference, as "17 views" does.
    """
    B = np.asarray(baselines, dtype=np.float64).reshape(-1, 2)
    on_axis = np.abs(B).min(axis=1) <= 1e-9 * np.abs(B).max(axis=1)
    on_diagonal = np.abs(np.abs(B[:, 0]) - np.abs(B[:, 1])) <= 1e-9 * np.abs(B).max(axis=1)
    if isinstance(which, str) and which.isdecimal():
        which = int(which)
    if which == "all":
        chosen = np.arange(len(B))
    elif which == "cross":
        chosen = np.flatnonzero(on_axis)
    elif which == "star":
        chosen = np.flatnonzero(on_axis | on_diagonal)
    elif isinstance(which, int) and which >= 2:
        if which > len(B) + 1:
            raise InputError(f"views: {which} were asked for, but there are only {len(B) + 1}.")
        chosen = np.sort(np.lexsort((_angle(B), _length(B)))[: which - 1])
    else:
        raise InputError(f"views: {which!r} is not one of cross, star, all or a number of at least 2.")
    if len(chosen) == 0:
        raise InputError(f"views: none of the {len(B)} other views belongs to {which!r}; try all.")
    return [int(k) for k in chosen]


def _length(B: geometry.Floats) -> geometry.Floats:
    """Relative to the longest, so that equal ones compare equal whatever the unit."""
    lengths = np.hypot(*B.T)
    finite = lengths[np.isfinite(lengths)]  # a camera that looks elsewhere has none, and sorts last
    return np.round(lengths / (finite.max(initial=0) or 1), 9)


def _angle(B: geometry.Floats) -> geometry.Floats:
    return np.round(np.arctan2(B[:, 1], B[:, 0]) % (2 * np.pi), 9)


def _canonical_order(M: geometry.Floats, m: geometry.Floats, B: geometry.Floats) -> NDArray[np.intp]:
    ties = np.concatenate([M.reshape(len(M), 9), m], axis=1).T  # two rotated views may share a baseline
    return np.lexsort((*ties, _angle(B), _length(B)))
