"""How the cpu engine's functions are compiled, and where the compiled code is kept.

Kernels, which Python calls, are compiled once for each computer and kept in Numba's cache.  Helpers are compiled into
the kernels that call them.  A helper has no entry from Python and no files of its own: both take as long to compile as
the helper itself, and nobody uses them.
"""

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from numba import njit
from numba.core.options import DefaultOptions

# The flags allow reordering, fusing and reciprocals; they do not assume that values are finite.
FAST = {"contract", "reassoc", "arcp", "nsz", "afn"}
OPTIONS: dict[str, Any] = {"fastmath": FAST, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
HELPER: Any = {**OPTIONS, "forceinline": True, "no_cpython_wrapper": True}
# Whenever a helper is handed an array, alone or in a tuple, Numba counts that somebody else holds it now.
UNCOUNTED: Any = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}  # another version may only count
ENGINES = Path(__file__).parents[1]
SOURCES = (*ENGINES.glob("*.py"), *ENGINES.glob("cpu/**/*.py"), ENGINES.parent / "scene" / "geometry.py")


def fingerprint() -> str:
    """Return a fingerprint of all sources that end up in kernels."""
    digest = hashlib.sha256()
    with suppress(OSError):  # there are no sources in a frozen program
        for path in sorted(SOURCES):
            digest.update(path.read_bytes())
    return digest.hexdigest()


FINGERPRINT = fingerprint()


def compiled(function: Any, **options: Any) -> Any:
    """Make a kernel of a function; `options` replace those of `OPTIONS`."""
    chosen: dict[str, Any] = {**OPTIONS, "cache": True, **options}
    try:
        kernel: Any = njit(**chosen)(function)
    except RuntimeError:  # no folder for the cache can be written
        return njit(**{**chosen, "cache": False})(function)
    with suppress(AttributeError):  # another version of Numba may have a cache of another kind
        file = kernel._cache._cache_file
        # Numba compiles a function anew if its own file changes, but not if those of its helpers do.  Without this, a
        # new version of gradcon could run kernels of the old one.
        file._source_stamp = FINGERPRINT
        # Two processes that compile a kernel for different types at the same time would choose the same name, and one
        # of them would later load the other's code.
        file._data_name_pattern = f"{kernel._cache._impl.filename_base}.{{number:d}}.{uuid4().hex[:16]}.nbc"
    return kernel


def inlined(function: Any, **options: Any) -> Any:
    """Make a helper of a function: it is inlined into every kernel that calls it.

    Calls would not do.  A process that compiles calls a helper in the helper's own library; a process that loads the
    kernel from the cache calls the copy in the kernel's library.  The two copies may round differently.
    """
    return njit(**{**HELPER, **options})(function)


def called(function: Any, **options: Any) -> Any:
    """Make a helper that stays a function of its own: its loop becomes vector code only if it is compiled alone.

    If the compiler saw the rows of a table that are handed to it, it would find that they might overlap.
    """
    return njit(**{**OPTIONS, "no_cpython_wrapper": True, **options})(function)


def inlined_lent(function: Any) -> Any:
    """Make an inlined helper that makes no array: those that it is lent outlive the call, so it does not count them.

    The helpers of the data term are lent dozens for every row.  Counting them took a fifth of its time.
    """
    return inlined(function, **UNCOUNTED)


def called_lent(function: Any) -> Any:
    """Make the same of a helper that stays a function of its own."""
    return called(function, **UNCOUNTED)


def is_cached(kernel: Any, signature: tuple[Any, ...] | None = None) -> bool:
    """Return whether a kernel's code for these types, or any types, is there already, compiled for this computer."""
    try:
        cache, codegen = kernel._cache, kernel.targetctx.codegen()
        index = cache._cache_file._load_index()
        if signature is None:
            return any(key[1] == codegen.magic_tuple() for key in index)
        return cache._index_key(signature, codegen) in index
    except (AttributeError, TypeError, IndexError):  # another version of Numba: it compiles when it must
        return True


def is_cachable(kernel: Any) -> bool:
    """Return whether there is a folder for a kernel's code."""
    stats = getattr(kernel, "stats", None)  # none if NUMBA_DISABLE_JIT is set
    return getattr(stats, "cache_path", None) is not None
