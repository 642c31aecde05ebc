"""What a user of a light field would try first instead: stereo matching and optical flow of OpenCV and scikit-image.

Every peer takes a planar scene and returns a dense disparity map of its reference, in pixels per unit baseline and
with the sign of `gradcon.scene`.  The libraries are optional: pip install "gradcon[peers]".
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

Flow = Callable[[Image], NDArray[Any]]  # target -> (height, width, 2): how far (x, y) moved from the reference, pixels

PEERS: dict[str, str] = {
    "sgbm": "OpenCV StereoSGBM, widest pair",
    "dis": "OpenCV DIS optical flow, median of all views",
    "tvl1": "scikit-image TV-L1 optical flow, median of the 8 nearest views",
    "ilk": "scikit-image iterative Lucas-Kanade, median of all views",
}
TVL1_VIEWS = 8
TUNED_ON = ("antinous", "boxes", "cotton", "dots", "pens", "town")  # of HCI; the other scenes are a fair test

# Chosen by the mean RMSE over antinous, boxes, cotton, dots, pens and town (HCI, 17 views, range -4 to 4), a few values
# of each setting one after the other; sgbm and dis at 512 x 512, the slow ones on the middle 192 x 192 pixels.
# Mean RMSE and BadPix 0.07 in %, default -> tuned (tvl1 and ilk: the middle 256 x 256):
#   sgbm  1.055 -> 0.308   38 -> 25   P1 and P2 alone: 0.362; also padding, background filling, a 5 x 5 median
#   dis   0.417 -> 0.208   57 -> 17   preset MEDIUM 0.298, at full resolution 0.244, then smaller patches
#   tvl1  0.506 -> 0.316   44 -> 39   the 4 nearest views beat the 4 ends of the cross (0.41, 0.48), 8 beat 4
#   ilk   0.414 -> 0.324   31 -> 28   radius 2 has less RMSE still (0.305, against 0.313) but more bad pixels (33, 28)
# On the six scenes of HCI that were left out: sgbm 0.770 -> 0.300, dis 0.339 -> 0.245.
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


def available() -> str | None:
    """None where the peers can run, else the sentence that says what to install."""
    if find_spec("cv2") is not None and find_spec("skimage") is not None:
        return None
    return 'The peers need OpenCV and scikit-image, which are not installed: pip install "gradcon[peers]"'


def run_peer(scene: Scene, name: str, tuned: bool, disparity_range: tuple[float, float]) -> NDArray[np.float32]:
    """Disparity of the reference by another method.

    Parameters
    ----------
    scene : Scene
        A planar array.  `sgbm` also needs a view in the reference's row.
    name : str
        One of `PEERS`.
    tuned : bool
        Settings of `TUNED`; otherwise the library's own, and only what has no default is set.
    disparity_range : (low, high)
        Where `sgbm` searches, in pixels per unit baseline; the others need no range.

    Returns
    -------
    (height, width) float32 array
        Pixels per unit baseline, finite everywhere.
    """
    methods = {"sgbm": _sgbm, "dis": _dis, "tvl1": _tvl1, "ilk": _ilk}
    if name not in methods:
        raise InputError(f"{name}: is not a peer; choose one of {', '.join(PEERS)}.")
    if not all(geometry.is_planar(M, m) for M, m in zip(scene.M, scene.m, strict=True)):
        raise InputError(f"{scene.name}: the peers need a planar array; its cameras are turned or not in one plane.")
    missing = available()
    if missing is not None:
        raise InputError(missing)
    return methods[name](scene, tuned, disparity_range).astype(np.float32)


def _sgbm(scene: Scene, tuned: bool, disparity_range: tuple[float, float]) -> NDArray[np.floating]:
    """Semi-global matching of the reference and the farthest view in its row.

    OpenCV finds the pixel x of the left image at x - d in the right one, and d may be negative.  Here it is seen
    at x + B_x w, so d = -B_x w with the reference as the left image, on whichever side the other camera stands.
    """
    low, high = disparity_range
    if not low < high:
        raise InputError(f"disparity_range: ({low}, {high}) is empty; give (low, high) in pixels per unit baseline.")
    cv2 = _library("cv2")
    target = widest_pair(scene)
    B_x = float(scene.baselines[target, 0])
    first, last = (int(np.floor(min(-B_x * low, -B_x * high))), int(np.ceil(max(-B_x * low, -B_x * high))))
    count = -(-(last + 1 - first) // 16) * 16  # OpenCV wants a multiple of 16
    # Pixels whose range leaves the frame are not matched at all.  Repeating the outermost columns gives them a chance.
    pad = max(-first, first + count, 0) if tuned else 0
    left, right = (
        np.pad(_bytes(view), ((0, 0), (pad, pad)), "edge") for view in (scene.reference, scene.targets[target])
    )
    settings = TUNED["sgbm"] if tuned else {}
    matcher = cv2.StereoSGBM_create(minDisparity=first, numDisparities=count, **settings)
    found = matcher.compute(left, right)[:, pad : pad + scene.shape[1]]  # 16ths of a pixel
    known = found >= 16 * first  # less than the smallest is OpenCV's mark for no match
    if not known.any():
        raise InputError(f"{scene.name}: StereoSGBM matched no pixel; is the range {disparity_range} right?")
    w = np.where(known, found / (-16 * B_x), np.nan).astype(np.float32)
    if not tuned:
        return _nearest(w)
    return np.asarray(cv2.medianBlur(_nearest(_background(w)), 5))


def _dis(scene: Scene, tuned: bool, _: tuple[float, float]) -> NDArray[np.floating]:
    """Dense inverse search from the reference to every view; the preset FAST is the default, MEDIUM is tuned."""
    cv2 = _library("cv2")
    method = cv2.DISOpticalFlow_create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM) if tuned else cv2.DISOpticalFlow_create()
    for setting, value in (TUNED["dis"] if tuned else {}).items():
        getattr(method, f"set{setting}")(value)
    reference = _bytes(scene.reference)
    return _median_of_views(scene, lambda view: method.calc(reference, _bytes(view), None))


def _tvl1(scene: Scene, tuned: bool, _: tuple[float, float]) -> NDArray[np.floating]:
    """Total variation and L1 flow from the reference to the 8 nearest views (all 16 would take most of a minute)."""
    flow = _library("skimage.registration").optical_flow_tvl1
    settings = TUNED["tvl1"] if tuned else {}
    return _median_of_views(scene, lambda view: _xy(flow(scene.reference, view, **settings)), TVL1_VIEWS)


def _ilk(scene: Scene, tuned: bool, _: tuple[float, float]) -> NDArray[np.floating]:
    """Iterative Lucas-Kanade flow from the reference to every view."""
    flow = _library("skimage.registration").optical_flow_ilk
    settings = TUNED["ilk"] if tuned else {}
    return _median_of_views(scene, lambda view: _xy(flow(scene.reference, view, **settings)))


def widest_pair(scene: Scene) -> int:
    """Index of the target in the reference's row with the longest baseline; of two, the camera on the right."""
    B = scene.baselines
    row = np.flatnonzero(np.abs(B[:, 1]) <= 1e-9 * np.abs(B[:, 0]))
    if len(row) == 0:
        raise InputError(f"{scene.name}: no view stands in the reference's row, so sgbm has no pair to match.")
    return int(min(row, key=lambda k: (-round(abs(B[k, 0]), 9), B[k, 0])))  # a camera on the right has B_x < 0


def _median_of_views(scene: Scene, flow: Flow, nearest: int | None = None) -> NDArray[np.floating]:
    """Each view's flow, projected on its baseline and divided by its length, then the median over the views."""
    views = zip(scene.targets[:nearest], scene.baselines[:nearest], strict=True)  # sorted by length in a scene
    return np.asarray(np.median([flow(view) @ B / (B @ B) for view, B in views], axis=0))


def _xy(flow: NDArray[Any]) -> NDArray[Any]:
    """scikit-image gives (rows, columns) first; here x comes before y, and last."""
    return np.stack([flow[1], flow[0]], axis=-1)


def _nearest(w: NDArray[np.float32]) -> NDArray[np.float32]:
    """Give the pixels that are NaN the value of the nearest pixel that is not."""
    where = ndimage.distance_transform_edt(np.isnan(w), return_distances=False, return_indices=True)
    return np.ascontiguousarray(w[tuple(where)])


def _background(w: NDArray[np.float32]) -> NDArray[np.float32]:
    """Fill NaN by the farther of its two neighbours in the row: what one view does not see is behind something."""
    left, right = _carried(w), _carried(w[:, ::-1])[:, ::-1]
    return np.fmin(left, right)


def _carried(w: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each row's last known value, to the right; NaN before the first."""
    last = np.maximum.accumulate(np.where(np.isnan(w), 0, np.arange(w.shape[1])), axis=1)
    return np.take_along_axis(w, last, axis=1)


def _bytes(view: Image) -> NDArray[np.uint8]:
    """What OpenCV's methods take: 8 bits."""
    return np.clip(np.rint(255 * view), 0, 255).astype(np.uint8)


def _library(name: str) -> Any:
    """Import by name, so that types are checked the same with and without the optional libraries."""
    return importlib.import_module(name)
