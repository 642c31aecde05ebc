"""Where a picture can be shown: in the notebook that runs, or in the system's viewer."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SECONDS_TO_FAIL = 3.0  # an opener that still runs after these has found a viewer


def running_notebook() -> Any:
    """Return the shell of the running notebook; None in a terminal and in a plain script.

    IPython is not imported: only if it already runs can there be a notebook.
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    kinds = {kind.__name__ for kind in type(shell).__mro__}
    return None if "TerminalInteractiveShell" in kinds else shell


def open_picture(png: bytes) -> None:
    """Write a picture to a temporary file and open it in the system's viewer; if there is none, say where it is."""
    handle, name = tempfile.mkstemp(prefix="gradcon-", suffix=".png")
    with os.fdopen(handle, "wb") as file:
        file.write(png)
    if not _opened(Path(name)):
        print(f"There is no display to show the picture on, so it was written to {name}.", file=sys.stderr)


def _opened(path: Path) -> bool:
    """Open a file with the program that the system has for it; return whether that worked."""
    # Pillow's Image.show would import IPython wherever it is installed, and claims success without a display.
    if sys.platform == "win32":
        try:
            os.startfile(path)
        except OSError:
            return False
        return True
    opener = "open" if sys.platform == "darwin" else "xdg-open"
    if opener == "xdg-open" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    quiet = subprocess.DEVNULL
    try:
        started = subprocess.Popen([opener, path], stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
        return started.wait(SECONDS_TO_FAIL) == 0
    except subprocess.TimeoutExpired:
        return True
    except OSError:
        return False
