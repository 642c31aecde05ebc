"""`gradcon synthesise` and `refocus`: pictures and films that use the depth of a scene."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gradcon import engines
from gradcon.cli import openings
from gradcon.cli.app import SceneArgument, app, refuse_result_file, say
from gradcon.cli.groups import grouped
from gradcon.cli.parameters import Engine
from gradcon.cli.results_of_scenes import open_both, parse_pair
from gradcon.errors import InputError

if TYPE_CHECKING:
    from gradcon.scene import Scene

ResultArgument = Annotated[
    Path, typer.Argument(metavar="RESULT", help="A folder that `gradcon estimate` wrote, or a disparity map.")
]
OutFile = Annotated[
    Path, typer.Option(metavar="FILE", help="A .png or .jpg, or for a film an .mp4 or .gif; replaced if it exists.")
]
FRAMES = 50


@app.command("synthesise")
@grouped
def _synthesise(
    scene: SceneArgument,
    result: ResultArgument,
    out: OutFile,
    at: Annotated[
        str | None, typer.Option(metavar="U,V", help="Where the camera stands: unit baselines to the right and down.")
    ] = None,
    path: Annotated[
        str | None, typer.Option(help="A film along a circle or a line, which --at says how far to reach.")
    ] = None,
    frames: Annotated[int | None, typer.Option(help=f"The number of frames of the film [default: {FRAMES}].")] = None,
    views: openings.Views = "all",
    engine: Engine = "auto",
    *,
    told: openings.ToldAboutScene,
) -> None:
    """Make the view of a camera that was never there.

    The camera stands between those of the scene and looks the same way as the reference.  With --path, a film moves it:
    around the reference as far as --at says, or else among all cameras.
    """
    from gradcon.rendering.paths import check_path, corners_of, places_along
    from gradcon.rendering.synthesis import is_between, refuse_far, span, synthesised

    where = None if at is None else parse_pair("at", at, "U,V")
    if path is not None:
        check_path(path, FRAMES if frames is None else frames)
    elif frames is not None:
        raise InputError("frames", "belong to a film, which is not asked for", "add --path circle")
    elif where is None:
        raise InputError("at", "is missing", "say where the camera stands, such as --at=0.5,0")
    engines.check(engine)
    _check_file(out, film=path is not None)
    both = open_both(scene, result, told, views)
    middle = 0.0, 0.0
    if where is None:  # all cameras, whose middle need not be the reference
        (left, right), (top, bottom) = span(both.scene)
        middle, where = ((left + right) / 2, (top + bottom) / 2), ((right - left) / 2, (bottom - top) / 2)
    places = [where] if path is None else places_along(path, middle, where, frames or FRAMES)
    corners = corners_of(places)
    for corner in corners:
        refuse_far(both.scene, corner)
    outside = [corner for corner in corners if not is_between(both.scene, corner)]
    if outside:
        right, down = outside[0]
        say(f"WARNING: ({right:g}, {down:g}) is outside the cameras, so parts are guessed.", aside=True)
    _write(out, synthesised(_brought(both.scene, engine), both.disparity, places))


@app.command("refocus")
@grouped
def _refocus(
    scene: SceneArgument,
    result: ResultArgument,
    out: OutFile,
    at: Annotated[str, typer.Option(metavar="X,Y", help="The pixel of the reference view that is to be sharp.")],
    aperture: Annotated[float, typer.Option(help="The diameter of the lens, in unit baselines.")],
    to: Annotated[
        str | None, typer.Option(metavar="X,Y", help="A film: the focus moves from --at to this pixel.")
    ] = None,
    frames: Annotated[int | None, typer.Option(help=f"The number of frames of the film [default: {FRAMES}].")] = None,
    views: openings.Views = "all",
    engine: Engine = "auto",
    *,
    told: openings.ToldAboutScene,
) -> None:
    """Make the picture of a wide lens: sharp at one pixel, and blurred nearer and farther.

    With --to, the focus moves from one pixel's distance to another's in a film.
    """
    from gradcon.rendering.paths import check_frames
    from gradcon.rendering.refocusing import check_aperture, focus_at, refocused

    ends = [parse_pair("at", at, "X,Y")] + ([] if to is None else [parse_pair("to", to, "X,Y")])
    check_aperture(aperture)
    if to is not None:
        check_frames(FRAMES if frames is None else frames)
    elif frames is not None:
        raise InputError("frames", "belong to a film, which is not asked for", "say where the focus goes by --to")
    engines.check(engine)
    _check_file(out, film=to is not None)
    both = open_both(scene, result, told, views)
    opened = _brought(both.scene, engine)
    depths = [focus_at(opened, both.disparity, end, name) for end, name in zip(ends, ("at", "to"), strict=False)]
    count = 1 if to is None else frames or FRAMES
    focuses = [depths[0] + (depths[-1] - depths[0]) * k / max(count - 1, 1) for k in range(count)]
    _write(out, refocused(opened, both.disparity, focuses, aperture))


def _check_file(out: Path, film: bool) -> None:
    """Refuse a file that does not fit what is made, before any work is done."""
    from gradcon.rendering.films import check_film_file, check_picture_file

    (check_film_file if film else check_picture_file)(out)
    refuse_result_file(out)
    if out.is_dir():
        raise InputError(out, "is a folder", "give the name of a file")


def _brought(scene: Scene, engine: str) -> Scene:
    """Return the scene with its views where the engine works."""
    engines.check_usable(engine)
    return engines.device_for(engine).transfer(scene)


def _write(out: Path, pictures: Iterator[Any]) -> None:
    from gradcon.files import write_file
    from gradcon.rendering.films import FILMS, encode_film, encode_picture

    suffix = out.suffix.lower()
    write_file(out, encode_film(pictures, suffix) if suffix in FILMS else encode_picture(next(pictures), suffix))
    say(f"written {out}")
