"""`gradcon convert` and `submission`: maps for other programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gradcon.cli.app import app, refuse_result_file
from gradcon.errors import InputError

if TYPE_CHECKING:
    from gradcon.io import maps, submission


@app.command("convert")
def _convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A map, or a folder that `gradcon estimate` wrote.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="A .pfm, .tif, .tiff, .png, .npz or .exr file.")],
    force: Annotated[bool, typer.Option("--force", help="Convert even if something is lost, and say what.")] = False,
    quantity: Annotated[str | None, typer.Option(help="Which map: disparity, uncertainty or depth.")] = None,
) -> None:
    """Convert a map to another format.

    OUT's suffix decides, and OUT is replaced where it exists.  What OUT could not hold is said, and nothing is
    written, unless --force is given.
    """
    from gradcon.io import maps

    maps.format_of(target)  # refuse an unknown one before anything is read
    _refuse_to_overwrite(source, target)
    refuse_result_file(target)
    found = maps.choose(maps.read_maps(source), source, quantity, several=True)
    lost = maps.losses(target, found)
    if lost and not force:
        several = len(found) > 1 and not maps.format_of(target).several
        advice = f"{'name one map by --quantity, or ' if several else ''}use --force if that may be lost"
        raise InputError(f"{target}: {'; '.join(lost)}; nothing was written, {advice}.")
    maps.write_map(target, found, lossy=force)
    for text in lost:
        print(f"{target}: {text}", file=sys.stderr)
    written = found if maps.format_of(target).several else found[:1]
    print(f"{source}: {', '.join(map(_describe, written))} -> {target} ({maps.format_of(target).name})")


def _describe(map_: maps.Map) -> str:
    """Quantity, size, range and unit of a map, for people."""
    import numpy as np

    height, width = map_.values.shape
    finite = map_.values[np.isfinite(map_.values)]
    span = f"{finite.min():.6g} to {finite.max():.6g}" if finite.size else "nothing known"
    return f"{map_.name} of {width} x {height}, {span} {map_.unit or '(unit unknown)'}"


def _refuse_to_overwrite(source: Path, target: Path) -> None:
    """A conversion never replaces what it reads."""
    try:
        same = source.resolve() == target.resolve() or (target.exists() and source.exists() and source.samefile(target))
    except (OSError, ValueError, RuntimeError):  # a name that cannot be one; whoever opens it says so
        return
    if same:
        raise InputError(f"{target}: is what would be read, so it cannot be written too; give another name.")


@app.command("submission")
def _submission(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the submission.")],
    results: Annotated[
        list[Path] | None, typer.Argument(metavar="[RESULT...]", help="Folders that `gradcon estimate` wrote.")
    ] = None,
) -> int:
    """Write results as the 4D Light Field Benchmark takes them, and check.

    The exit code is 0 if all twelve scenes are there and right, 1 if some are missing, 2 if anything is wrong.
    """
    from gradcon.io import submission

    if results:
        submission.write(folder, results)
    check = submission.validate(folder)
    for category, scenes in submission.CATEGORIES.items():
        for scene in scenes:
            state = f"{check.seconds[scene]:.2f} s" if scene in check.seconds else _state(scene, check)
            print(f"{category:11} {scene:11} {state}")
    for text in check.wrong:
        print(text, file=sys.stderr)
    if check.complete:
        print(f"{folder}: is complete; zip {submission.MAPS} and {submission.RUNTIMES} to hand it in")
    else:
        print(f"{folder}: not complete; files missing: {len(check.missing)}, things wrong: {len(check.wrong)}")
    return 2 if check.wrong else int(bool(check.missing))


def _state(scene: str, check: submission.Check) -> str:
    missing = [name for name in check.missing if Path(name).stem == scene]
    return f"missing: {', '.join(missing)}" if missing else "wrong"
