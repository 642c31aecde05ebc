"""A scene: one reference image, other views of the same scene, and the geometry that relates them.

The whole package follows these conventions: images are luma in [0, 1]; x points to the right and y down; view t sees
the reference pixel (x, y) of disparity w at (x, y) + B_t w.  Positive disparity is nearer.  The baseline B_t therefore
points *against* the camera's movement: a camera one step to the right of the reference has B = (-1, 0).  The unit of w
is pixels per unit of the baselines as they were given.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradcon.arrays import as_array, module_of, to_device, to_host
from gradcon.errors import InputError
from gradcon.scene import geometry
from gradcon.scene.array_axes import cell_of, count_axes
from gradcon.scene.calibration import Calibration, check_unit
from gradcon.scene.checks import checked_ground_truth, checked_seen, checked_transforms, refuse_degenerate
from gradcon.scene.fingerprint import sha256_of_arrays
from gradcon.scene.layout import Layout
from gradcon.scene.luma import Image, full_scale, luma_of_views, to_planes, white_of
from gradcon.scene.numbers import checked_positive, finite_number, shortly
from gradcon.scene.pixels import SharedPixels
from gradcon.scene.reading import Source, any_on_device, read_colours
from gradcon.scene.selection import canonical_order
from gradcon.scene.shown import ShownScene
from gradcon.scene.variants import laid_out


class Scene(SharedPixels, ShownScene):
    """A reference view, one or more target views, and their geometry.

    Parameters
    ----------
    reference : array, (height, width) or (height, width, 3)
        The view whose disparity is estimated.  8-bit integers are divided by 255.  Wider integers are divided by the
        largest value of 8, 10, 12, 14 or 16 bits, whichever is the first to hold the brightest pixel of all views.
        Floats are used as they are, unless the brightest exceeds 1: then all views are divided by it.
    targets : sequence of arrays, or of functions that return an array
        The other views, of the reference's size.  A function is called once, so that files can be read view by view.
        If a view is in a GPU's memory (a CuPy array, or anything with `__cuda_array_interface__` or DLPack), all views
        are moved there.
    baselines : (T, 2) array of (B_x, B_y), optional
        One row per target: it sees the reference pixel (x, y) of disparity w at (x + B_x w, y + B_y w).
    transforms : pair of arrays (M, m), (T, 3, 3) and (T, 3), optional
        The general geometry, instead of `baselines`: the pixel is seen at dehomogenise(M (x, y, 1) + m w).
    ground_truth : (height, width) array, optional
        The true disparity in pixels per unit baseline, NaN where it is unknown.
    name : str
        The name of the scene in messages and results.
    reference_name : str
        The name of the reference view in messages and results.
    target_names : sequence of str, optional
        The names of the targets in messages and results.
    calibration : Calibration, optional
        How disparity becomes metric depth.
    metadata : dict, optional
        Whatever else the source knows, such as camera parameters or units, in plain types.
    white : float, optional
        What all views are divided by, as a fraction of their type's range, instead of the value that their brightest
        pixel suggests.
    seen : (1 + T, height, width) array of bool, optional
        Which pixels of each view its camera saw, the reference first; by default all.  The others are never compared,
        and no ground truth counts where the reference saw nothing.

    Attributes
    ----------
    colours : (1 + T, C, height, width) uint8, uint16 or float32
        The pixels of the reference and then of the targets.  C is 1 if all views are grey and 3 otherwise.  Types other
        than uint8 and uint16 become float32, integers among them as fractions of their type's range.
    colour_scale : float
        The factor that brings `colours` to the unit of the luma, where white is 1.
    reference : (height, width) float32
        Luma of the reference.
    M, m, baselines : (T, 3, 3), (T, 3) and (T, 2) float64
        The geometry of the targets.
    seen : (1 + T, height, width) array of bool, or None
        Which pixels of each view its camera saw, in the host's memory; None if they are all.
    doubts : list of str
        What the reader of the files doubts about them, in sentences for the user.

    Notes
    -----
    The targets are kept sorted by the length of their baselines, then by direction, so that nothing depends on the
    order in which they were listed.
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
        seen: ArrayLike | None = None,
    ) -> None:
        names = list(target_names) if target_names is not None else [f"target {k}" for k in range(len(targets))]
        if len(targets) < 1:
            raise InputError(name, "there is only the reference view", "give at least two views")
        if len(names) != len(targets):
            raise InputError(name, f"{len(targets)} targets but {len(names)} target names", "give one name per target")
        self.name = name
        self.reference_name = reference_name
        self.metadata = dict(metadata or {})
        self.doubts: list[str] = []

        first = to_device(reference) if any_on_device([reference, *targets]) else as_array(reference, reference_name)
        planes = to_planes(first, reference_name)
        self.shape: tuple[int, int] = planes.shape[1:]
        M, m = checked_transforms(baselines, transforms, len(targets), name)
        B = np.array([geometry.baseline(Mt, mt, self.shape) for Mt, mt in zip(M, m, strict=True)])
        refuse_degenerate(M, m, B, names, reference_name)

        order = canonical_order(M, m, B)
        self.M, self.m, self.baselines = M[order], m[order], B[order]
        self.target_names = [names[k] for k in order]
        read = read_colours(planes, [targets[k] for k in order], self.target_names, reference_name, first.dtype)
        self.colours = read.colours
        self.white = checked_positive("white", white) if white is not None else white_of(read.brightest, first.dtype)
        self.colour_scale = 1.0 / (full_scale(self.colours.dtype) or 1) / self.white
        self._grey = read.grey
        self.reference: Image = luma_of_views(self.colours[:1], self._grey[:1], self.white)[0]
        self._targets: Image | None = None
        if not (calibration is None or isinstance(calibration, Calibration)):
            raise InputError(name, f"its calibration is a {type(calibration).__name__}", "give a gradcon.Calibration")
        self.calibration = calibration
        self._given = first
        self.layout = Layout()  # how it differs from what was given
        given = checked_seen(seen, (1 + len(names), *self.shape), name)
        self.seen = given[[0, *(1 + order)]] if given is not None else None
        self.ground_truth = checked_ground_truth(ground_truth, self.shape, name, given)

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
        """Make a scene from a regular grid of views.

        Parameters
        ----------
        views : array[v, u, y, x] or array[v, u, y, x, channel]
            The row v grows downwards and the column u to the right, as the cameras stand.  One row may also be
            array[u, y, x] or array[u, y, x, 3].  An array whose axes seem to be in another order is refused.
        reference : (v, u), optional
            The place of the reference view; by default the middle of the grid.
        ground_truth, calibration, name
            As for `Scene`.
        """
        array = as_array(views, name)
        if count_axes(array.shape, array.dtype, name, grid=True) == 1:
            array = array[None]
        rows, columns = array.shape[:2]
        v0, u0 = cell_of(reference, name) if reference is not None else (rows // 2, columns // 2)
        if not (0 <= v0 < rows and 0 <= u0 < columns):
            problem = f"the reference ({v0}, {u0}) is outside the {rows} x {columns} grid of views"
            raise InputError(name, problem, "count rows and columns from 0")
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
        """Make a scene from calibrated pinhole cameras.

        Parameters
        ----------
        reference, targets
            As for `Scene`.
        cameras : sequence of Camera
            The reference's camera first, then those of the targets.
        unit : {"m", "cm", "mm", ""}
            The unit of the cameras' translations, and therefore of the depth; empty if it is unknown.
        nearest : float, optional
            The length of the unit baseline, as depth times disparity.  By default the nearest target has a baseline of
            length 1, so that disparity is in pixels of movement in that view.  Give one value for all scenes of a rig
            to make their disparities comparable.
        **more
            Other parameters of `Scene`.
        """
        name = more.get("name", "scene")
        if len(cameras) != 1 + len(targets):
            problem = f"{len(cameras)} cameras are given for {1 + len(targets)} views"
            raise InputError(name, problem, "give one camera for each view")
        pairs = [camera.relative_to(cameras[0]) for camera in cameras[1:]]
        if nearest is None:
            height, width = as_array(reference).shape[:2]
            nearest = geometry.shortest([geometry.baseline(M, m, (height, width)) for M, m in pairs])
        length = finite_number(nearest)
        if length is None or length <= 0:
            problem = f"{shortly(nearest)} is not the length of a baseline"
            raise InputError("nearest", problem, "give a positive number, as depth times disparity")
        with np.errstate(over="ignore"):  # a scene refuses a geometry that is infinite
            transforms = np.array([M for M, _ in pairs]), np.array([m / length for _, m in pairs])
        calibration = Calibration(length, cameras[0].K, unit=check_unit(unit, name))
        return cls(reference, targets, transforms=transforms, calibration=calibration, **more)

    def flipped(self, x: bool = False, y: bool = False) -> Scene:
        """Return the same views with their baselines reversed along x, y or both.

        This corrects a rig whose cameras were counted from the wrong end.  It works for planar arrays only.  The ground
        truth does not depend on that count, and is kept.
        """
        return laid_out(self, Layout(x, y))

    def transposed(self) -> Scene:
        """Return the same views with x and y of their baselines exchanged, for a rig whose rows are really columns."""
        return laid_out(self, Layout(transposed=True))

    def to_host(self) -> Scene:
        """Return the same scene with its views in the host's memory."""
        return self._moved(to_host)

    def to_device(self) -> Scene:
        """Return the same scene with its views in the GPU's memory."""
        return self._moved(to_device)

    def _moved(self, move: Any) -> Scene:
        if module_of(self.reference) is module_of(moved := move(self.reference)):
            return self
        scene = copy.copy(self)
        scene.reference, scene._pixels, scene._targets = moved, move(self._pixels), None
        return scene

    @property
    def targets(self) -> Image:
        """Luma of the targets, (T, height, width) float32, computed from the colours when it is first needed."""
        if self._targets is None:
            self._targets = luma_of_views(self.colours[1:], self._grey[1:], self.white)
        return self._targets

    def target(self, t: int) -> Image:
        """Return the luma of one target, without computing that of the others."""
        if self._targets is not None:
            return self._targets[t]
        return luma_of_views(self.colours[t + 1 : t + 2], self._grey[t + 1 : t + 2], self.white)[0]

    @property
    def is_planar(self) -> bool:
        """Whether all cameras stand in a plane and look the same way, so that a view only moves pixels by B_t w."""
        return all(geometry.is_planar(M, m) for M, m in zip(self.M, self.m, strict=True))

    @property
    def unit(self) -> float:
        """The length of the shortest baseline; the engines divide all baselines by it."""
        return float(np.hypot(*self.baselines.T).min())

    @property
    def known_truth(self) -> Image | None:
        """The ground truth, or None if no pixel of it is known."""
        truth = self.ground_truth
        return truth if truth is not None and np.isfinite(truth).any() else None

    def fingerprint(self) -> str:
        """Return the SHA-256 of the pixels, the geometry and what was seen: all that the estimate depends on."""
        seen = [] if self.seen is None else [self.seen]
        return sha256_of_arrays(to_host(self.colours), self.M, self.m, np.array(self.white), *seen)

    def reference_fingerprint(self) -> str:
        """Return the SHA-256 of the reference's pixels, as they were given."""
        return sha256_of_arrays(self.colour)

    def __repr__(self) -> str:
        height, width = self.shape
        truth = "with" if self.ground_truth is not None else "without"
        return f"<Scene {self.name!r}: {len(self.colours)} views of {width} x {height}, {truth} ground truth>"
