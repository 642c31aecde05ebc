"""What a file claims to hold against what it can: nothing of a size that its bytes do not bear out is allocated."""

from __future__ import annotations

MAX_DEFLATE = 1032  # no deflate stream grows by more than this factor
MAX_ZSTD = 2**15  # nor does one of zstd, of which a block of 128 KiB takes 4 bytes at the least
_HEADERS = 1024  # bytes of data that come for next to nothing


def claims_too_much(claimed: int, stored: int, growth: int = MAX_DEFLATE) -> bool:
    """Whether so many bytes of values cannot come out of so many bytes of file, which grow by that factor at most."""
    return claimed > growth * stored + _HEADERS
