"""What the child process does with HDF5 files: describe datasets and attributes, and read a part of a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.isolated.plain import plain, type_name

_COPY_VALUES = "copy the values into the file"


def describe(path: Path, datasets: list[str], attributes: list[str]) -> tuple[dict[str, Any], None]:
    """Describe those of the datasets and attributes that exist; list the root's members if a dataset is missing."""
    with h5py.File(path, "r") as root:
        found = {name: _described(_dataset(root, name)) for name in datasets}
        values = {name: plain(root.attrs[name]) for name in attributes if name in root.attrs}
        members = [] if all(found.values()) else sorted(root)[:8]
    return {"datasets": found, "attributes": values, "members": members}, None


def read(path: Path, dataset: str, index: list[int], window: list[list[int]]) -> tuple[dict[str, Any], NDArray[Any]]:
    """Read the part of a dataset at an index, and within a window of [start, stop] along the axes that follow."""
    with h5py.File(path, "r") as root:
        data = _dataset(root, dataset)
        if data is None:
            raise InputError("", f"has lost its dataset {dataset}", "do not change it while it is read")
        part = (*index, *(slice(start, stop) for start, stop in window))
        return {"fill": plain(data.fillvalue)}, np.asarray(data[part or ...])


def _described(data: Any) -> dict[str, Any] | None:
    if data is None:
        return None
    stored = int(data.id.get_storage_size())
    chunks = data.chunks or (1,) * data.ndim  # without chunks, nothing is unpacked beside the part that is asked for
    return {"shape": data.shape, "dtype": type_name(data.dtype), "stored": stored, "chunks": chunks}


def _dataset(root: Any, name: str) -> Any:
    """Return a dataset, or None; its values must be in this file, although HDF5 would follow links to others."""
    if root.get(name, getlink=True) is None:
        return None
    _refuse_leaving(root, name)
    data = root.get(name)
    if not isinstance(data, h5py.Dataset):
        raise InputError("", f"its {name} is not a dataset", "give a file of the older HCI set")
    if data.is_virtual or data.external:
        raise InputError("", f"its dataset {name} leaves the file, as its values are in other files", _COPY_VALUES)
    if data.id.get_storage_size() == 0:  # HDF5 would make up as many zeros as the shape claims
        raise InputError("", f"its dataset {name} holds no values", "copy or export the file again")
    return data


def _refuse_leaving(root: Any, name: str) -> None:
    """Follow soft links before HDF5 does, and refuse one that leads into another file."""
    waiting = name.strip("/").split("/")
    here: list[str] = []
    for _ in range(64):
        if not waiting:
            return
        part = waiting.pop(0)
        if part in ("", "."):
            continue
        link = root.get("/" + "/".join([*here, part]), getlink=True)
        if isinstance(link, h5py.ExternalLink):
            raise InputError("", f"its {name} leaves the file, as it is a link into {link.filename}", _COPY_VALUES)
        if isinstance(link, h5py.SoftLink):
            here = [] if link.path.startswith("/") else here
            waiting = [*link.path.strip("/").split("/"), *waiting]
        elif link is None:
            raise InputError("", f"its {name} is a link to {part}, which does not exist", _COPY_VALUES)
        else:
            here.append(part)
    raise InputError("", f"its {name} is a chain of links without end", _COPY_VALUES)
