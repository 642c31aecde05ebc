"""The application that the commands are added to, and what they share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from gradcon import __version__
from gradcon.errors import InputError
from gradcon.io.outputs import RESULT_FILES, SUMMARY

# Plain help and errors: rich would double the time that --help takes, and frame what should be one sentence.
app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

Out = Annotated[Path, typer.Option(help="Folder to write into; created where it is missing.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on stdout.")]
SceneArgument = Annotated[Path, typer.Argument(help="Folder or file of the views; `gradcon info` says what it is.")]


@app.callback(invoke_without_command=True)
def _gradcon(
    context: typer.Context, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    """Disparity and uncertainty from many views of a scene, by the Gradient Consistency Model."""
    if version:
        print(f"gradcon {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


def as_json(value: dict[str, Any]) -> str:
    from gradcon.files import to_json

    return to_json(value)


def refuse_unwritable(folder: Path, files: Sequence[str] = RESULT_FILES) -> None:
    """Find out before a long run whether its results can be written, and leave no trace of trying.

    No folder is made for that: who begins at the same moment might find it, and then not.
    """
    import os
    import tempfile
    from contextlib import suppress

    try:
        with suppress(FileNotFoundError):
            os.lstat(folder)  # or the file system cannot have this name
        there = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        what = "write into" if os.path.isdir(folder) else "create"
        raise InputError(f"{folder}: cannot {what} this folder ({error.strerror}); choose another.") from None
    for name in files:
        if (folder / name).is_dir():
            raise InputError(f"{folder / name}: is a folder where a result should go; choose another folder.")


def refuse_result_file(path: Path) -> None:
    """Refuse to write to one of a result's own files: its result.json would no longer tell what is there."""
    import os

    if path.name.lower() in RESULT_FILES and os.path.lexists(path.parent / SUMMARY):
        raise InputError(
            f"{path}: is the name of a file of the result in that folder, which {SUMMARY} describes; give another name."
        )
