"""The tools that a user would try first: stereo matching and optical flow of OpenCV and scikit-image.

Every peer takes a planar scene and returns a dense disparity map of its reference, in pixels per unit baseline and
with the sign convention of `gradcon.scene`.  The libraries are optional.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from gradcon.errors import InputError
from gradcon.scene import Scene, geometry
from gradcon.scene.scene import Image

Flow = Callable[[Image], NDArray[Any]]  # target -> (height, width, 2): motion (x, y) from the reference, in pixels

PEERS: dict[str, str] = {
    "sgbm": "OpenCV StereoSGBM, widest pair",
    "dis": "OpenCV DIS optical flow, median of all views",
    "tvl1": "scikit-image TV-L1 optical flow, median of the 8 nearest views",
    "ilk": "scikit-image iterative Lucas-Kanade, median of all views",
}
LIBRARIES = ("opencv-python-headless", "scikit-image")
TVL1_VIEWS = 8
TUNED_ON = ("antinous", "boxes", "cotton", "dots", "pens", "town")  # scenes of HCI; the others are a fair test

# These settings gave the lowest mean RMSE over the scenes `TUNED_ON` (17 views, range -4 to 4).  A few values of each
# setting were tried, one setting after the other; sgbm and dis at 512 x 512, the slow ones on the central 192 x 192.
# Mean RMSE and BadPix 0.07 in %, default -> tuned (tvl1 and ilk on the central 256 x 256):
#   sgbm  1.055 -> 0.308   38 -> 25   only P1 and P2: 0.362; plus padding, background filling and a 5 x 5 median
#   dis   0.417 -> 0.208   57 -> 17   preset MEDIUM 0.298, at full resolution 0.244, then smaller patches
#   tvl1  0.506 -> 0.316   44 -> 39   the 4 nearest views beat the 4 ends of the cross (0.41, 0.48), 8 beat 4
#   ilk   0.414 -> 0.324   31 -> 28   radius 2 has lower RMSE (0.305, not 0.313) but more bad pixels (33, not 28)
# On the six HCI scenes that were not used for tuning: sgbm 0.770 -> 0.300, dis 0.339 -> 0.245.
TUNED: dict[str, dict[str, Any]] = {
    "sgbm": {
        "blockSize": 3,
        "P1": 36,
        "P2": 864,
        "disp12MaxDiff": 1,
        "preFilterCap": 31,
        "uniquenessRatio": 10,
        "speckleWindowSize": 100,
        "speckleRange": 1,
        "mode": 2,  # StereoSGBM::MODE_SGBM_3WAY
    },
    "dis": {"FinestScale": 0, "PatchSize": 4, "PatchStride": 2, "VariationalRefinementAlpha": 10.0},
    "tvl1": {"attachment": 100},
    "ilk": {"radius": 3},
}


def missing_libraries() -> InputError | None:
    """Return None if the peers can run, and otherwise the error that says what to install."""
    if find_spec("cv2") is not None and find_spec("skimage") is not None:
        return None
    return InputError("peers", "OpenCV and scikit-image are not installed", f"run `pip install {' '.join(LIBRARIES)}`")


def run_peer(scene: Scene, name: str, tuned: bool, disparity_range: tuple[float, float]) -> NDArray[np.float32]:
    """Estimate the disparity of the reference with another tool.

    Parameters
    ----------
    scene : Scene
        A planar array.  `sgbm` also needs a target in the same row as the reference.
    name : str
        One of `PEERS`.
    tuned : bool
        Use the settings of `TUNED` instead of the library's defaults.
    disparity_range : (low, high)
        Range in which `sgbm` searches, in pixels per unit baseline; the others need none.

    Returns
    -------
    (height, width) float32 array
        Pixels per unit baseline, finite everywhere.
    """
    methods = {"sgbm": _sgbm, "dis": _dis, "tvl1": _tvl1, "ilk": _ilk}
    if name not in methods:
        raise InputError("name", f"{name!r} is not a peer", f"choose one of {', '.join(PEERS)}")
    if not all(geometry.is_planar(M, m) for M, m in zip(scene.M, scene.m, strict=True)):
        raise InputError(
            scene.name,
            "is not a planar array, which the peers need",
            "choose a scene with parallel cameras",
        )
    missing = missing_libraries()
    if missing is not None:
        raise missing
    return methods[name](scene, tuned, disparity_range).astype(np.float32)


def _sgbm(scene: Scene, tuned: bool, disparity_range: tuple[float, float]) -> NDArray[np.floating]:
    """Match the reference with the farthest target in its row, semi-globally.

    OpenCV finds the pixel x of the left image at x - d in the right one, and d may be negative.  Here it is seen
    at x + B_x w, so d = -B_x w if the reference is the left image, on whichever side the other camera is.
    """
    low, high = disparity_range
    if not low < high:
        raise InputError("disparity_range", f"({low}, {high}) is empty", "give (low, high) in pixels per unit baseline")
    cv2 = _library("cv2")
    target = widest_pair(scene)
    B_x = float(scene.baselines[target, 0])
    first, last = (int(np.floor(min(-B_x * low, -B_x * high))), int(np.ceil(max(-B_x * low, -B_x * high))))
    count = -(-(last + 1 - first) // 16) * 16  # OpenCV requires a multiple of 16
    # OpenCV does not match pixels whose search range leaves the frame.  Repeating the outermost columns includes them.
    pad = max(-first, first + count, 0) if tuned else 0
    left, right = (
        np.pad(_bytes(view), ((0, 0), (pad, pad)), "edge") for view in (scene.reference, scene.targets[target])
    )
    settings = TUNED["sgbm"] if tuned else {}
    matcher = cv2.StereoSGBM_create(minDisparity=first, numDisparities=count, **settings)
    found = matcher.compute(left, right)[:, pad : pad + scene.shape[1]]  # 16ths of a pixel
    known = found >= 16 * first  # OpenCV marks a pixel without a match by a value below the range
    if not known.any():
        raise InputError(scene.name, "StereoSGBM matched no pixel", f"check the disparity range {disparity_range}")
    w = np.where(known, found / (-16 * B_x), np.nan).astype(np.float32)
    if not tuned:
        return _nearest(w)
    return np.asarray(cv2.medianBlur(_nearest(_background(w)), 5))


def _dis(scene: Scene, tuned: bool, _: tuple[float, float]) -> NDArray[np.floating]:
    """Dense inverse search from the reference to every target; the default preset is FAST, the tuned one MEDIUM."""
    cv2 = _library("cv2")
    method = cv2.DISOpticalFlow_create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM) if tuned else cv2.DISOpticalFlow_create()
    for setting, value in (TUNED["dis"] if tuned else {}).items():
        getattr(method, f"set{setting}")(value)
    reference = _bytes(scene.reference)
    return _median_of_views(scene, lambda view: method.calc(reference, _bytes(view), None))


def _tvl1(scene: Scene, tuned: bool, _: tuple[float, float]) -> NDArray[np.floating]:
    """TV-L1 flow from the reference to the 8 nearest targets; all 16 would take most of a minute."""
    flow = _library("skimage.registration").optical_flow_tvl1
    settings = TUNED["tvl1"] if tuned else {}
    return _median_of_views(scene, lambda view: _xy(flow(scene.reference, view, **settings)), TVL1_VIEWS)


def _ilk(scene: Scene, tuned: bool, _: tuple[float, float]) -> NDArray[np.floating]:
    """Iterative Lucas-Kanade flow from the reference to every target."""
    flow = _library("skimage.registration").optical_flow_ilk
    settings = TUNED["ilk"] if tuned else {}
    return _median_of_views(scene, lambda view: _xy(flow(scene.reference, view, **settings)))


def widest_pair(scene: Scene) -> int:
    """Return the index of the farthest target in the reference's row; if there are two, that of the right-hand one."""
    B = scene.baselines
    row = np.flatnonzero(np.abs(B[:, 1]) <= 1e-9 * np.abs(B[:, 0]))
    if len(row) == 0:
        raise InputError(scene.name, "has no target in the reference's row, which sgbm needs", "choose another peer")
    return int(min(row, key=lambda k: (-round(abs(B[k, 0]), 9), B[k, 0])))  # a camera on the right has B_x < 0


def _median_of_views(scene: Scene, flow: Flow, nearest: int | None = None) -> NDArray[np.floating]:
    """Turn the flow to each target into a disparity, by its component along the baseline, and take the median."""
    views = zip(scene.targets[:nearest], scene.baselines[:nearest], strict=True)  # a scene sorts them by length
    return np.asarray(np.median([flow(view) @ B / (B @ B) for view, B in views], axis=0))


def _xy(flow: NDArray[Any]) -> NDArray[Any]:
    """Convert scikit-image's (2, height, width) flow, rows first, to (height, width, 2), x first."""
    return np.stack([flow[1], flow[0]], axis=-1)


def _nearest(w: NDArray[np.float32]) -> NDArray[np.float32]:
    """Fill each NaN with the value of the nearest known pixel."""
    where = ndimage.distance_transform_edt(np.isnan(w), return_distances=False, return_indices=True)
    return np.ascontiguousarray(w[tuple(where)])


def _background(w: NDArray[np.float32]) -> NDArray[np.float32]:
    """Fill each NaN with the farther of its two neighbours in the row, since hidden points lie behind something."""
    left, right = _carried(w), _carried(w[:, ::-1])[:, ::-1]
    return np.fmin(left, right)


def _carried(w: NDArray[np.float32]) -> NDArray[np.float32]:
    """Carry the last known value of each row to the right; pixels before the first stay NaN."""
    last = np.maximum.accumulate(np.where(np.isnan(w), 0, np.arange(w.shape[1])), axis=1)
    return np.take_along_axis(w, last, axis=1)


def _bytes(view: Image) -> NDArray[np.uint8]:
    """Convert to 8 bits, which OpenCV's methods take."""
    return np.clip(np.rint(255 * view), 0, 255).astype(np.uint8)


def _library(name: str) -> Any:
    """Import by name, so that the type checker gives the same result with and without the optional libraries."""
    return importlib.import_module(name)
