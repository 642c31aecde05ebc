"""Refuse a file that is damaged, or that claims more than it can hold or memory allows, in a sentence that names it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gradcon.errors import InputError

MAX_DEFLATE = 1032  # a deflate stream never grows by more than this factor
MAX_ZSTD = 2**15  # the same for a zstd stream, in which a block of 128 KiB takes at least 4 bytes
_HEADERS = 1024  # bytes of values that even the smallest file may claim

LIMIT_VARIABLE = "GRADCON_MEMORY_LIMIT"  # the environment carries the limit, so that workers have the same
SHARE = 0.5  # of the memory that is free: estimating needs about as much again as the views
SMALL = 2**28  # bytes; up to this size any growth is allowed, because it does no harm
MAX_GROWTH = 100  # beyond that, files are larger than this share of their values; photographs stay below 20
_SIZE = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)\s*([kmgt]?)i?b?", re.IGNORECASE | re.ASCII)
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
    if claimed > limit:
        problem = f"takes {shown(claimed)} of memory, but at most {shown(limit)} are allowed"
        raise InputError(where, problem, f"use fewer or smaller views, or raise {LIMIT_VARIABLE} (now {shown(limit)})")
    if stated is None and stored is not None and claimed > max(SMALL, MAX_GROWTH * stored):
        problem = f"unpacks {shown(stored)} to {shown(claimed)}, as if it were made to fill the memory"
        raise InputError(where, problem, f"if you trust it, set {LIMIT_VARIABLE}={shown(claimed).replace(' ', '')}")


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
    """Return the bytes of memory that are free for this process, by what the system and its control group say."""
    free = [2**34]  # a system that says nothing is taken for one of 16 GiB
    with suppress(*_UNKNOWN):
        free = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    with suppress(*_UNKNOWN):
        text = Path("/proc/meminfo").read_text()
        free.append(int(text.partition("MemAvailable:")[2].split()[0]) * 1024)
    with suppress(*_UNKNOWN):
        group = Path("/sys/fs/cgroup")
        most, used = (int((group / f"memory.{name}").read_text()) for name in ("max", "current"))
        free.append(max(0, most - used))
    return min(free)


def shown(size: int) -> str:
    """Return a size as a person reads it."""
    for unit in ("GB", "MB", "kB"):
        power = 1024 ** _POWERS[unit[0].lower()]
        if size >= power:
            return f"{-(-size * 10 // power) / 10:,.1f} {unit}"
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
    except (InputError, MemoryError):
        raise
    except Exception as error:  # every library has its own errors, and damaged files bring out unusual ones
        reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")[:160]
        problem = f"{what} cannot be read ({reason})".strip()
        raise InputError(where, problem, "copy or export it again, as it may be damaged") from None
