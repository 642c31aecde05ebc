"""What the child process does with Zarr stores: describe arrays and attributes, and read a part of an array."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray

from gradcon.errors import InputError
from gradcon.isolated.plain import plain, type_name

VIEWS = "views"
# Codecs are allowed by name because Zarr also knows pickle, which could run any program.
CODECS = {"bytes", "endian", "transpose", "sharding_indexed", "crc32c", "crc32", "adler32", "fletcher32"}
CODECS |= {"blosc", "zstd", "gzip", "zlib", "bz2", "lzma", "lz4", "shuffle", "delta", "packbits"}
CODECS |= {"bitround", "quantize", "fixedscaleoffset", "astype"}


def describe(path: Path, arrays: list[str], attributes: list[str]) -> tuple[dict[str, Any], None]:
    """Describe those of the arrays and attributes of the store that exist; list its members if there are no views."""
    with _opened(path) as root:
        found = {name: _described(_array(root, name)) for name in arrays}
        values = {name: value for name, value in dict(root.attrs).items() if name in attributes}
        members = [] if found[VIEWS] else sorted(root.keys())[:8]
    return {"arrays": found, "attributes": values, "members": members}, None


def read(path: Path, array: str, index: list[int]) -> tuple[dict[str, Any], NDArray[Any]]:
    """Read the part of an array at an index."""
    with _opened(path) as root:
        data = _array(root, array)
        if data is None:
            raise InputError("", f"has lost its {array}", "do not change it while it is read")
        return {"fill": plain(data.fill_value)}, np.asarray(data[tuple(index) or ...])


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open the root of a store, an array or a group."""
    zipped = path.is_file()
    store = zarr.storage.ZipStore(path, mode="r") if zipped else zarr.storage.LocalStore(path, read_only=True)
    try:
        yield zarr.open(store, mode="r")
    finally:
        store.close()


def _described(array: Any) -> dict[str, Any] | None:
    if array is None:
        return None
    chunks = list(array.shards or array.chunks)
    return {"shape": list(array.shape), "dtype": type_name(array.dtype), "chunks": chunks, "inside": array.path}


def _array(root: Any, name: str) -> Any:
    """Return an array of the store, or None if it is not there.

    The views are the array `views`, or the only array of the store, which may be the store itself.
    """
    if isinstance(root, zarr.Array):
        array = root if name == VIEWS else None
    else:
        names = list(root.keys()) if name == VIEWS else []
        array = root.get(names[0] if len(names) == 1 else name)
    if array is None:
        return None
    if not isinstance(array, zarr.Array):
        raise InputError("", f"its {name} is a group", "store it as an array")
    for codec in _codecs(array.metadata.to_dict()):
        if codec.removeprefix("numcodecs.") not in CODECS:
            problem = f"its {name} is encoded by {codec!r}, which is not supported"
            raise InputError("", problem, "use zstd, gzip or blosc")
    return array


def _codecs(metadata: dict[str, Any]) -> Iterator[str]:
    """Yield the names of all codecs in format 2 (filters, compressor) and format 3 (codecs, and those in shards)."""
    for field in ("codecs", "index_codecs", "filters", "compressor"):
        found = metadata.get(field) or ()
        for codec in found if isinstance(found, (list, tuple)) else [found]:
            settings = codec if isinstance(codec, dict) else codec.get_config()
            yield str(settings.get("name", settings.get("id")))
            yield from _codecs(settings.get("configuration") or {})
