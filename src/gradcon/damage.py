"""Refuse a file that is damaged, claims more than it can hold or memory allows, or names files outside its folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any

from gradcon.errors import InputError

MAX_DEFLATE = 1032  # a deflate stream never grows by more than this factor
MAX_ZSTD = 2**15  # the same for a zstd stream, in which a block of 128 KiB takes at least 4 bytes
_HEADERS = 1024  # bytes of values that even the smallest file may claim

LIMIT_OPTION = "--memory-limit"
LIMIT_VARIABLE = "GRADCON_MEMORY_LIMIT"  # the environment carries the limit, so that workers have the same
SHARE = 0.5  # of the memory that is free: estimating needs about as much again as the views
SMALL = 2**28  # bytes; up to this size any growth is allowed, because it does no harm
MAX_GROWTH = 100  # beyond that, files are larger than this share of their values; photographs stay below 20
ABSURD = 10**6 * 1024**4  # bytes that nobody means
_SIZE = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)\s*([kmgt]?)(?:i?b|bytes)?", re.IGNORECASE | re.ASCII)
_UNKNOWN = (OSError, ValueError, LookupError, AttributeError)  # a system does not tell a fact, or tells it otherwise
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def claims_too_much(claimed: int, stored: int, growth: int = MAX_DEFLATE) -> bool:
    """Return whether `claimed` bytes of values exceed what `stored` bytes can grow to, by `growth` at most."""
    return claimed > growth * stored + _HEADERS


def refuse_large(where: Path | str, claimed: int, stored: int | None = None) -> None:
    """Refuse values that would take more memory than is allowed; call it before anything is allocated.

    Parameters
    ----------
    where : Path or str
        The file, or the part of it, for the message.
    claimed : int
        The bytes that reading it takes at the most, copies included.
    stored : int, optional
        The bytes that hold these values in the file.  Values that are far larger than that are refused even if they
        fit, because a small file that fills the memory was made to do so.  A limit that the user states allows them.
    """
    stated = stated_limit()
    limit = stated if stated is not None else int(SHARE * free_memory())
    size = shown(claimed).replace(" ", "")
    allow = f"{LIMIT_OPTION} {size} (from Python, {LIMIT_VARIABLE}={size} in the environment)"
    if claimed >= ABSURD:
        raise InputError(where, f"claims to take {shown(claimed)} of memory", "copy or export it again")
    if claimed > limit:
        problem = f"takes {shown(claimed)} of memory, but at most {shown(limit)} are allowed"
        raise InputError(where, problem, f"use fewer or smaller images, or allow it with {allow}")
    if stated is None and stored is not None and claimed > max(SMALL, MAX_GROWTH * stored):
        problem = f"unpacks {shown(stored)} to {shown(claimed)}, as if it were made to fill the memory"
        raise InputError(where, problem, f"if you trust it, allow it with {allow}")


def stated_limit() -> int | None:
    """Return the limit that the user states, in bytes, or None."""
    text = os.environ.get(LIMIT_VARIABLE, "").strip()
    return parse_size(text, LIMIT_VARIABLE) if text else None


def parse_size(text: str, where: str) -> int:
    """Return the bytes of a size such as 500M or 16 GB, in which K, M, G and T are powers of 1024."""
    match = _SIZE.fullmatch(text.strip())
    if match is None or (size := int(float(match[1]) * 1024 ** _POWERS[match[2].lower()])) == 0:
        raise InputError(where, f"{text!r} is not a size", "give one such as 500M or 16G")
    return size


def free_memory() -> int:
    """Return the bytes of memory that this process can still take, by what the system and its limits say."""
    free = [2**34]  # a system that says nothing is taken for one of 16 GiB
    with suppress(*_UNKNOWN):
        free = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    with suppress(*_UNKNOWN):
        free.append(_stated_sizes("/proc/meminfo")["MemAvailable:"] * 1024)
    with suppress(*_UNKNOWN):  # a container: its cache of files is given up when memory is needed
        most, used = (int(Path(f"/sys/fs/cgroup/memory.{name}").read_text()) for name in ("max", "current"))
        parts = _stated_sizes("/sys/fs/cgroup/memory.stat")
        free.append(most - used + parts["active_file"] + parts["inactive_file"])
    with suppress(ImportError, *_UNKNOWN):  # `ulimit -v`
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        if most != resource.RLIM_INFINITY:
            free.append(most - used)
    return max(0, min(free))


def _stated_sizes(path: str) -> dict[str, int]:
    """Return the numbers of a system's file that states one under each name."""
    lines = (line.split() for line in Path(path).read_text().splitlines())
    return {words[0]: int(words[1]) for words in lines}


def shown(size: int) -> str:
    """Return a size as a person reads it, rounded up, so that `parse_size` gives no less."""
    if size >= ABSURD:
        return "over a million TB"
    for unit in ("TB", "GB", "MB", "kB"):
        power = 1024 ** _POWERS[unit[0].lower()]
        if size >= power:
            return f"{-(-size * 10 // power) / 10:.1f} {unit}"
    return f"{size} bytes"


@contextmanager
def refuse_damage(where: Path | str, what: str = "") -> Iterator[None]:
    """Turn whatever a library raises when it reads a damaged file into an InputError.

    Parameters
    ----------
    where : Path or str
        The file.
    what : str
        The part of the file that is being read, if it is not the whole.
    """
    try:
        yield
    except InputError:
        raise
    except MemoryError:
        raise short_of_memory(where) from None
    except Exception as error:  # every library has its own errors, and damaged files bring out unusual ones
        reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")[:160]
        problem = f"{what} cannot be read ({reason})".strip()
        raise InputError(where, problem, "copy or export it again, as it may be damaged") from None


def short_of_memory(where: Path | str) -> InputError:
    """Return the refusal of a file whose reader ran out of memory, although what it claims would have fitted."""
    problem = "cannot be read, because there is not enough memory or because it is damaged"
    return InputError(where, problem, "use fewer or smaller images, or copy or export it again")


def leaves_folder(name: str) -> bool:
    """Return whether a relative path (with slashes) could leave its folder on some system, or names no file."""
    path = PurePosixPath(name)
    return any(odd in name for odd in ("\\", ":", "\0")) or ".." in path.parts or path.is_absolute() or not path.name


def inside(folder: Path, name: Any, where: Path | str) -> Path:
    """Return `folder / name`; refuse a name, read from the file `where`, that leads out of the folder.

    A link in the folder may lead out of it as well as a name may.
    """
    remedy = "remove that name, or choose another folder"
    if not isinstance(name, str) or leaves_folder(name):
        raise InputError(where, f"names {str(name)[:80]!r}, which is not the name of a file in {folder}", remedy)
    path = folder / name
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        pass  # it may be about to be written, or have been removed
    except (OSError, ValueError):  # too long, for example
        raise InputError(where, f"names {name[:80]!r}, which is not the name of a file in {folder}", remedy) from None
    try:
        stays = path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # links that go in circles
        stays = False
    if not stays:
        raise InputError(where, f"names {name[:80]!r}, which leads out of {folder} by a link", remedy)
    return path
