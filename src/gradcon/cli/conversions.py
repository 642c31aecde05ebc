"""`gradcon convert` and `submission`: write maps for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gradcon.cli.app import app, refuse_result_file, say
from gradcon.errors import InputError

if TYPE_CHECKING:
    from gradcon.io import maps, submission


@app.command("convert")
def _convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A map, or a folder that `gradcon estimate` wrote.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="A .pfm, .tif, .tiff, .png, .npz or .exr file.")],
    force: Annotated[bool, typer.Option("--force", help="Convert even if something is lost, and report what.")] = False,
    quantity: Annotated[str | None, typer.Option(help="Which map to convert: disparity, uncertainty or depth.")] = None,
) -> None:
    """Convert a map to another format.

    The suffix of OUT names the format; OUT is replaced if it exists.  A lossy conversion is refused unless you pass
    --force.
    """
    from gradcon.io import maps

    maps.format_of(target)  # refuse an unknown format before anything is read
    _refuse_to_overwrite(source, target)
    refuse_result_file(target)
    found = maps.choose(maps.read_maps(source), source, quantity, several=True)
    lost = maps.losses(target, found)
    if lost and not force:
        several = len(found) > 1 and not maps.format_of(target).several
        choice = "choose one map by --quantity, or " if several else ""
        raise InputError(target, "; ".join(lost), f"{choice}pass --force to accept the loss")
    maps.write_map(target, found, lossy=force)
    for text in lost:
        say(f"{target}: {text}", aside=True)
    written = found if maps.format_of(target).several else found[:1]
    say(f"{source}: {', '.join(map(_describe, written))} -> {target} ({maps.format_of(target).name})")


def _describe(map_: maps.Map) -> str:
    """Describe the quantity, size, range and unit of a map, for people."""
    import numpy as np

    height, width = map_.values.shape
    finite = map_.values[np.isfinite(map_.values)]
    span = f"{finite.min():.6g} to {finite.max():.6g}" if finite.size else "all unknown,"
    return f"{map_.name} of {width} x {height}, {span} {map_.unit or '(unit unknown)'}"


def _refuse_to_overwrite(source: Path, target: Path) -> None:
    """Refuse to replace the file that is converted."""
    try:
        same = source.resolve() == target.resolve() or (target.exists() and source.exists() and source.samefile(target))
    except (OSError, ValueError, RuntimeError):  # an impossible name, which is refused when it is opened
        return
    if same:
        raise InputError(target, "is the file to be converted", "give another name")


@app.command("submission")
def _submission(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the submission.")],
    results: Annotated[
        list[Path] | None, typer.Argument(metavar="[RESULT...]", help="Folders that `gradcon estimate` wrote.")
    ] = None,
) -> int:
    """Write and check a submission to the 4D Light Field Benchmark.

    The exit code is 0 if all twelve scenes are there and valid, 1 if some are missing, and 2 if anything is wrong.
    """
    from gradcon.io import submission

    if results:
        submission.write(folder, results)
    check = submission.validate(folder)
    for category, scenes in submission.CATEGORIES.items():
        for scene in scenes:
            state = f"{check.seconds[scene]:.2f} s" if scene in check.seconds else _state(scene, check)
            say(f"{category:11} {scene:11} {state}")
    for text in check.wrong:
        say(text, aside=True)
    if check.complete:
        say(f"{folder}: is complete; zip {submission.MAPS} and {submission.RUNTIMES} to submit it")
    else:
        say(f"{folder}: is not complete; files missing: {len(check.missing)}, errors: {len(check.wrong)}")
    return 2 if check.wrong else int(bool(check.missing))


def _state(scene: str, check: submission.Check) -> str:
    missing = [name for name in check.missing if Path(name).stem == scene]
    return f"missing: {', '.join(missing)}" if missing else "wrong"
