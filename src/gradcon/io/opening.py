"""Open a scene, or the frames of a light-field video, in any supported format."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np

from gradcon.errors import InputError
from gradcon.files import as_path
from gradcon.io.formats.format import Hints
from gradcon.io.formats.registry import list_scene
from gradcon.io.listing import Listing, load
from gradcon.scene import Scene, Views
from gradcon.scene.selection import checked_views
from gradcon.scene.variants import with_white


def open_scene(
    path: str | Path,
    *,
    views: Views = "all",
    reference: str | tuple[int, int] | None = None,
    pattern: str | None = None,
    size_factor: float | None = None,
    grid: tuple[int, int] | None = None,
    micro_images: bool = False,
    neighbours: int | None = None,
    slide: bool = False,
    frame: int = 0,
) -> Scene:
    """Open a scene in any supported format; `gradcon info` reports which format was recognised, and why.

    Parameters
    ----------
    path : str or Path
        One of: a rig.toml, or the folder that holds one; a folder of the 4D Light Field Benchmark
        (input_Cam040.png ...) or of Middlebury 2001 to 2006 (view0.png ... or im0.ppm ...); any folder of images,
        videos or folders of frames whose names count rows and columns; a folder of two images, which are a stereo
        pair; a folder of numbered images (with `grid` or `slide`); a video (with `slide`); an HDF5 light field of the
        older HCI set; a NumPy or Zarr array; a single image that holds all views (with `grid`); a sparse COLMAP model
        with its images.
    views : "all", "cross", "star" or int
        Which views to use: all of them; those in the reference's row and column ("cross"); those and the diagonals
        ("star"); or the N nearest, counting the reference.  Images that are not used are not read.
    reference : str or (row, column), optional
        The reference image, if it is not the format's default: its name or, in an array, its position.
    pattern : str, optional
        File names with {row} and {col} in place of the camera's position, such as "2067_{row}_{col}.png".
    size_factor : float, optional
        Middlebury only: the divisor of the ground truth's grey values.  It is needed only if the size of the images
        does not imply it.
    grid : (rows, columns), optional
        For a single image that holds all views, or a folder of numbered images, row by row: the number of rows and
        columns of views or, with `micro_images`, of pixels under each micro-lens.
    micro_images : bool
        Whether that image consists of micro-images, each of which holds one pixel of every view.
    neighbours : int, optional
        COLMAP only: the number of images around the reference to use.
    slide : bool
        Whether a single video, or a folder of frames, was taken by one camera that slid past a still scene.
    frame : int
        The frame of a light-field video, counted from 0.

    Returns
    -------
    Scene

    Raises
    ------
    InputError
        The input cannot be used.  The message says where, why and what to do.
    """
    hints = Hints(reference, pattern, size_factor, grid, micro_images, neighbours, slide)
    frames = Frames(list_scene(as_path(path, "scene"), hints), views)
    if not 0 <= frame < len(frames):
        remedy = f"choose a frame from 0 to {len(frames) - 1}" if len(frames) > 1 else "use frame 0, the only one"
        raise InputError(path, f"has no frame {frame}", remedy)
    return frames[frame]


def open_frames(path: str | Path, *, views: Views = "all", **hints: Any) -> Frames:
    """Open the frames of a light-field video; a still scene has one frame.

    Each frame is a Scene that is read when it is accessed.  The parameters are those of `open_scene`, without `frame`.
    Pass the frames to `gradcon.estimate_many`.
    """
    for name in hints.keys() - {field.name for field in dataclasses.fields(Hints)}:
        raise TypeError(f"open_frames() got an unexpected keyword argument {name!r}")
    return Frames(list_scene(as_path(path, "scene"), Hints(**hints)), views)


class Frames(Sequence[Scene]):
    """The frames that `open_frames` returns: a sequence of scenes.

    Frame 0 tells which value stands for white in pixels of 16 bits or floats.  A frame that is brighter has its own.

    Attributes
    ----------
    listing : Listing
        What was found at the path, and how its format was recognised.
    is_video : bool
        False for a still scene.
    """

    def __init__(self, listing: Listing, views: Views = "all") -> None:
        self.listing = listing
        self.views = checked_views(views)
        self.is_video = listing.frames is not None
        self._white: float | None = None  # of frame 0, once it has been needed

    def __repr__(self) -> str:
        return f"<Frames of {self.listing.source}: {len(self)}, {self.listing.recognised}>"

    def __len__(self) -> int:
        return 1 if self.listing.frames is None else self.listing.frames

    @overload
    def __getitem__(self, index: int) -> Scene: ...
    @overload
    def __getitem__(self, index: slice) -> list[Scene]: ...
    def __getitem__(self, index: int | slice) -> Scene | list[Scene]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        frame = index % len(self)
        scene = load(self.listing, self.views, frame)
        if scene.colours.dtype == np.uint8:  # whose white is 255 in every frame
            return scene
        if self._white is None:
            self._white = scene.white if frame == 0 else load(self.listing, self.views, 0).white
        return with_white(scene, max(self._white, scene.white))
