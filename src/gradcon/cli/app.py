"""The application, and what its commands share."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from gradcon import __version__
from gradcon.damage import LIMIT_OPTION, LIMIT_VARIABLE, parse_size
from gradcon.errors import InputError, printable
from gradcon.io.outputs import RESULT_FILES, SUMMARY

# No rich markup: it would double the time that --help takes, and put a frame around errors of one sentence.
app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

Out = Annotated[Path, typer.Option(help="The folder to write into; it is created if it is missing.")]
Json = Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")]
SceneArgument = Annotated[Path, typer.Argument(help="The folder or file that holds the views.")]


@app.callback(invoke_without_command=True)
def _gradcon(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    memory_limit: Annotated[
        str | None,
        typer.Option(
            LIMIT_OPTION,
            metavar="SIZE",
            help="The memory that reading may take, such as 16G; half of the free memory by default.",
        ),
    ] = None,
) -> None:
    """Disparity and uncertainty from many views of a scene, by the Gradient Consistency Model."""
    if memory_limit is not None:
        _limit_memory(context, memory_limit)
    if version:
        say(f"gradcon {__version__}")
    elif context.invoked_subcommand is None:
        say(context.get_help())


def say(text: str, *, aside: bool = False) -> None:
    """Print what a command says: to stdout, or `aside`, to stderr.  All that commands print goes through here."""
    print(printable(text, keep="\n"), file=sys.stderr if aside else sys.stdout, flush=aside)


def _limit_memory(context: typer.Context, size: str) -> None:
    """Put the limit into the environment, from which workers inherit it, until the command ends."""
    import os

    parse_size(size, LIMIT_OPTION)
    before = os.environ.get(LIMIT_VARIABLE)
    os.environ[LIMIT_VARIABLE] = size
    context.call_on_close(
        lambda: os.environ.pop(LIMIT_VARIABLE, "") if before is None else os.environ.update({LIMIT_VARIABLE: before})
    )


def as_json(value: dict[str, Any]) -> str:
    """Encode what a command prints with --json."""
    from gradcon.files import to_json

    return to_json(value)


def refuse_unwritable(folder: Path, files: Sequence[str] = RESULT_FILES) -> None:
    """Refuse a folder that cannot be written, before a long run rather than after it.

    The check leaves no trace.  It does not even create the folder for a moment, because another command that starts at
    the same time could see it appear and vanish.
    """
    import os
    import tempfile
    from contextlib import suppress

    try:
        with suppress(FileNotFoundError):
            os.lstat(folder)  # fails if the file system does not allow this name
        there = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        what = "write into" if os.path.isdir(folder) else "create"
        raise InputError(folder, f"cannot {what} this folder ({error.strerror})", "choose another") from None
    for name in files:
        if (folder / name).is_dir():
            raise InputError(folder / name, "is a folder where a file of the result should go", "choose another folder")


def refuse_result_file(path: Path) -> None:
    """Refuse to replace a file of a result, which its result.json would no longer describe."""
    import os

    if path.name.lower() in RESULT_FILES and os.path.lexists(path.parent / SUMMARY):
        problem = f"is the name of a file of the result in that folder, which {SUMMARY} describes"
        raise InputError(path, problem, "give another name")


def check_picture(path: Path | None) -> None:
    """Refuse to draw a picture into anything but a PNG file."""
    if path is not None and path.suffix.lower() != ".png":
        raise InputError("picture", f"{path} does not end in .png", "give the name of a PNG file")
