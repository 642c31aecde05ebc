"""Decide whether a text may be shown on a terminal."""

from __future__ import annotations

import unicodedata

_REORDERS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")


def steers_terminal(text: str) -> bool:
    """Return whether a text holds control characters, line separators, marks that reorder letters, or no Unicode."""
    return any(
        unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") or unicodedata.bidirectional(letter) in _REORDERS
        for letter in set(text)
    )
