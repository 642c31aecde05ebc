"""The command `gradcon`: parse, call the API, print.

Results go to stdout; progress, warnings and errors go to stderr.  The exit codes are

- 0 for success,
- 1 if something had to be left out, or `doctor` found something wrong,
- 2 for an input that cannot be used, with one sentence that says why,
- 3 for a GPU that failed,
- 130 for Ctrl-C and 143 for SIGTERM.

Anything else that goes wrong is a bug, and shows its traceback.  Heavy libraries are imported by the commands that use
them, so that `gradcon --help` is quick.
"""

from __future__ import annotations

import errno
import gc
import io
import os
import sys
from typing import Any, NoReturn

import typer

# --help lists the commands in this order.
from gradcon.cli import scenes, doctor, estimates, fusions, batches, conversions, renderings, measurements, reports  # noqa: F401  # isort: skip
from gradcon.cli.app import app, say
from gradcon.cli.signals import code_of_end, obey_signals
from gradcon.errors import DeviceError, InputError

# typer does not export the base of its usage errors, and where it lives depends on typer's version.
UsageError: Any = typer.BadParameter.__bases__[0]

GPU_FAILED = 3  # exit code
OBJECTS_BETWEEN_COLLECTIONS = 200_000  # the libraries that a command imports make more, and all of them stay


def run(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and end the process."""
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a file name need not be valid text
    obey_signals()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    try:
        code = main(arguments)
    except (Exception, KeyboardInterrupt):
        if code_of_end() is None:
            raise
        code = 0
    code = code_of_end() or code
    if code == GPU_FAILED:
        # After a failure CuPy cannot clean up, and would print an error for everything that it tries to free.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    gc.freeze()  # Python would look for cycles among all objects before it ends, which takes 0.3 s
    sys.exit(code)


def _open_closed_streams() -> None:
    """Let nothing read what the shell has closed (`2>&-`), and no file take its number, which libraries write to."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    try:
        code = app(arguments, standalone_mode=False, prog_name="gradcon")
        if sys.stdout is not None:
            sys.stdout.flush()  # notice here, and not at shutdown, that the reader of a pipe has gone
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
    except OSError as error:
        return _system_refuses(error)


def _system_refuses(error: OSError) -> int:
    """Say that the system refuses a name, a file that vanished, or the output; anything else is a bug."""
    if error.filename is not None:
        reason = (error.strerror or type(error).__name__).lower()
        return _fail(f"{error.filename}: cannot be used ({reason}); check its name and permissions.")
    if error.errno not in (errno.EPIPE, errno.ENOSPC):  # those are from stdout
        raise error
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1 if error.errno == errno.EPIPE else _fail("there is no room for the output; write it elsewhere.")


def _fail(sentence: str, code: int = 2) -> int:
    say(f"gradcon: {sentence}", aside=True)
    return code
