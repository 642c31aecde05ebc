"""`gradcon info` and `synth`: look at a scene, or make one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gradcon.cli import openings
from gradcon.cli.app import Json, SceneArgument, app, as_json, check_picture, refuse_unwritable, say
from gradcon.cli.groups import grouped
from gradcon.cli.parameters import Flip
from gradcon.errors import InputError


@app.command("info")
@grouped
def _info(
    scene: SceneArgument,
    views: openings.Views = "all",
    flip: Flip = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also draw the views into this PNG file.")
    ] = None,
    no_picture: Annotated[bool, typer.Option("--no-picture", hidden=True)] = False,  # from when it was the default
    json: Json = False,
    *,
    told: openings.ToldAboutScene,
) -> None:
    """Report which format a scene has, and how it was recognised.

    The report includes its views, baselines, units and range of disparities, and the command to estimate it.  The
    picture shows the views of a grid arranged like their cameras.
    """
    from gradcon.cli.messages import warn
    from gradcon.cli.scene_info import info_table
    from gradcon.files import write_file
    from gradcon.io import Frames, open_frames
    from gradcon.methods.look import describe_scene
    from gradcon.pictures.contact_sheet import contact_sheet, on_a_grid
    from gradcon.scene.layout import Layout

    layout = Layout.parse(flip)
    check_picture(picture)
    listing = open_frames(scene, **told).listing.chosen(views).laid_out(layout)
    described = describe_scene(Frames(listing))
    path = f"./{scene}" if str(scene).startswith("-") else str(scene)
    options = openings.as_options({**told, "views": None if views == "all" else views, "flip": flip})
    described["command"] = ["gradcon", "estimate", path, "--out", "out", *options]
    text = info_table(described, described["command"])
    if picture is not None:
        write_file(picture, contact_sheet(listing))
        described["contact_sheet"] = str(picture)
        order = "arranged like their cameras" if on_a_grid(listing) else "one after the other"
        text += f"\n{'picture':11} {picture}: all views, {order}, with a frame around the reference"
    warn(described["doubts"])
    say(as_json(described) if json else text)


@app.command("synth")
def _synth(
    name: Annotated[str | None, typer.Argument(help="The name of a scene; --list lists them.")] = None,
    out: Annotated[Path | None, typer.Option(help="The folder to write into; it is created if it is missing.")] = None,
    size: Annotated[str, typer.Option(help="The size of a view in pixels: 256, or WIDTHxHEIGHT.")] = "256",
    views: openings.GridViews = "cross",
    seed: Annotated[int, typer.Option(help="The seed of the textures.")] = 0,
    list_scenes: Annotated[bool, typer.Option("--list", help="List the scenes.")] = False,
) -> None:
    """Write a synthetic scene with exact ground truth.

    The scene is a folder of the 4D Light Field Benchmark; `rotated`, whose cameras form no grid, has a rig.toml.
    """
    from gradcon import synth

    if list_scenes:
        for known, world in synth.SCENES.items():
            say(f"{known:12} {(world.__doc__ or '').strip().splitlines()[0]}")
        return
    if name not in synth.SCENES:
        choose = f"choose one of {', '.join(synth.SCENES)}"
        if name is None:
            raise InputError("name", "no scene is named", choose)
        raise InputError(name, "is not a synthetic scene", choose)
    if out is None:
        raise InputError("out", "no folder is given to write the scene into", "add --out DIR")
    refuse_unwritable(out)
    height, width = _size(size)
    folder = synth.write(name, out, (height, width), views=views, seed=seed)
    count = len(list(folder.glob("*.png")))
    say(f"{name}: wrote {count} views of {width} x {height}, with ground truth, to {folder}")


def _size(text: str) -> tuple[int, int]:
    """Parse "256" or "640x480" as (height, width)."""
    parts = text.split("x")
    if len(parts) > 2 or not all(part.isdecimal() and 0 < int(part) <= 8192 for part in parts):
        problem = f"{text!r} is neither a number of pixels nor WIDTHxHEIGHT"
        raise InputError("size", problem, "give numbers from 1 to 8192")
    return int(parts[-1]), int(parts[0])
