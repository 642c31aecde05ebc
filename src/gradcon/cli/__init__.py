"""The command `gradcon`: parse, call the API, print.

Results go to stdout, progress, warnings and errors to stderr.  Exit codes: 0, 1 for work that is done but for what it
had to leave out, 2 for an input that cannot be used (one sentence says why), 3 for a GPU that failed, 130 for Ctrl-C,
143 for SIGTERM.
Whatever else goes wrong is a bug, and shows its traceback.

Heavy libraries are imported by the commands that use them, so that `gradcon --help` is quick.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from typing import Any, NoReturn

import typer

# In the order of the commands in --help.
from gradcon.cli import scenes, estimates, batches, conversions, measurements, reports  # noqa: F401  # isort: skip
from gradcon.cli.app import app
from gradcon.errors import DeviceError, InputError

# typer does not export the base of its usage errors, and where it lives depends on typer's version.
UsageError: Any = typer.BadParameter.__bases__[0]

GPU_FAILED = 3  # exit code


def run(arguments: list[str] | None = None) -> NoReturn:
    """The command itself: `main`, and the end of the process."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a file's name may be no text
    signal.signal(signal.SIGTERM, _terminate)
    code = main(arguments)
    if code == GPU_FAILED:
        # What CuPy would clean up is lost, and each failure to do so would be reported.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    try:
        code = app(arguments, standalone_mode=False, prog_name="gradcon")
        if sys.stdout is not None:
            sys.stdout.flush()  # a reader that has gone is noticed here, not when Python shuts down
        return int(code or 0)
    except (InputError, DeviceError) as error:
        return _fail(str(error), code=GPU_FAILED if isinstance(error, DeviceError) else 2)
    except UsageError as error:
        where = error.ctx.command_path if error.ctx else "gradcon"
        message = " ".join(error.format_message().split())
        return _fail(f"{message.removesuffix('.')}{'' if message.endswith('?') else ';'} see {where} --help.")
    except MemoryError:
        return _fail("there is not enough memory for this scene; use fewer views (--views) or smaller images.")
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except OSError as error:  # of stdout: files are written by functions that say which
        if error.errno not in (errno.EPIPE, errno.ENOSPC):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1 if error.errno == errno.EPIPE else _fail("there is no room for the output; give it another place.")


def _terminate(number: int, frame: object) -> NoReturn:
    """SIGTERM, as schedulers of clusters send it: things are left as Ctrl-C leaves them."""
    signal.signal(number, signal.SIG_IGN)  # it is ending already
    raise SystemExit(143)


def _fail(sentence: str, code: int = 2) -> int:
    print(f"gradcon: {sentence}", file=sys.stderr)
    return code
