"""Say in words why the system refused something."""

from __future__ import annotations


def reason(error: Exception) -> str:
    """Return the reason of an error as part of a sentence."""
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).lower()
