"""The command `gradcon`, also as `python -m gradcon`."""

from __future__ import annotations

import sys


def start() -> None:
    """Run the command line; Ctrl-C ends it quietly even while its modules are imported."""
    try:
        from gradcon.cli import run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    start()
