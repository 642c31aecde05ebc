"""Opening a scene, or the frames of a light-field video, whatever its format."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

from gradcon.errors import InputError
from gradcon.io.format import Hints
from gradcon.io.formats import list_scene
from gradcon.io.listing import Listing, load
from gradcon.scene import Scene, Views


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
    frame: int = 0,
) -> Scene:
    """Open a scene, of whatever format; `gradcon info` says which it is taken for, and why.

    Parameters
    ----------
    path : str or Path
        A rig.toml or the folder that holds one; a folder of the 4D Light Field Benchmark (input_Cam040.png
        ..) or of Middlebury 2001 to 2006 (view0.png .. or im0.ppm ..); any folder of images, or of a light-field
        video's frames or files, whose names count rows and columns; an HDF5 light field of the older HCI set; a NumPy
        or Zarr array; with `grid`, one image that holds all views; a sparse COLMAP model with its undistorted images.
    views : "all", "cross", "star" or int
        Which views to use: all; those in the reference's row and column; these and the diagonals; or the N
        nearest, the reference counted.  Images that are not used are not read.
    reference : str or (row, column), optional
        Name of the reference image, where it is not to be the format's own; of an array, its place.
    pattern : str, optional
        File names with {row} and {col} for the camera's place, such as "2067_{row}_{col}.png".
    size_factor : float, optional
        Middlebury only: what the ground truth's grey values are divided by, where the images' size does not
        tell.
    grid : (rows, columns), optional
        One image that holds all views: so many rows and columns of views; with `micro_images`, of pixels under each
        micro-lens.
    micro_images : bool
        The image is one of micro-images, each of which holds one pixel of every view.
    neighbours : int, optional
        COLMAP only: how many images around the reference are used.
    frame : int
        Which frame of a light-field video, from 0.

    Returns
    -------
    Scene

    Raises
    ------
    InputError
        Something about the input cannot be used; its text says what, where and what to do.
    """
    hints = Hints(reference, pattern, size_factor, grid, micro_images, neighbours)
    frames = Frames(list_scene(Path(path), hints), views)
    if not 0 <= frame < len(frames):
        raise InputError(f"{path}: has no frame {frame}; there are {len(frames)}, counted from 0.")
    return frames[frame]


def open_frames(path: str | Path, *, views: Views = "all", **hints: Any) -> Frames:
    """The frames of a light-field video, each a Scene that is read when it is asked for; a still has one.

    Takes the parameters of `open_scene`, but for `frame`.  Give them to `gradcon.estimate_many`.
    """
    for name in hints.keys() - {field.name for field in dataclasses.fields(Hints)}:
        raise TypeError(f"open_frames() got an unexpected keyword argument {name!r}")
    return Frames(list_scene(Path(path), Hints(**hints)), views)


class Frames(Sequence[Scene]):
    """What `open_frames` returns: a sequence of scenes.

    Attributes
    ----------
    listing : Listing
        What was found at the path, and why it was taken for that.
    is_video : bool
    """

    def __init__(self, listing: Listing, views: Views = "all") -> None:
        self.listing = listing
        self.views = views
        self.is_video = listing.frames is not None
        self._white: float | None = None  # of the first scene that is read, and then of all

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
        scene = load(self.listing, self.views, index % len(self), self._white)
        self._white = scene.white
        if self.is_video:  # a file that has gone on would have to be decoded from its beginning
            scene.sources = [None] * len(scene.sources)
        return scene
