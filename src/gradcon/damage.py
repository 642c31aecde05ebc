"""Refuse a file that is damaged, or that claims more than it can hold, in one sentence that names it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gradcon.errors import InputError

MAX_DEFLATE = 1032  # a deflate stream never grows by more than this factor
MAX_ZSTD = 2**15  # the same for a zstd stream, in which a block of 128 KiB takes at least 4 bytes
_HEADERS = 1024  # bytes of values that even the smallest file may claim


def claims_too_much(claimed: int, stored: int, growth: int = MAX_DEFLATE) -> bool:
    """Return whether `claimed` bytes of values exceed what `stored` bytes can grow to, by `growth` at most."""
    return claimed > growth * stored + _HEADERS


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
