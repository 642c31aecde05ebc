"""`gradcon info` and `synth`: scenes themselves."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from gradcon.cli.app import Json, SceneArgument, app, as_json, refuse_unwritable
from gradcon.cli.openings import Told, as_options, opens_scene
from gradcon.errors import InputError


@app.command("info")
@opens_scene
def _info(
    scene: SceneArgument,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the contact sheet goes [NAME-views.png].")
    ] = None,
    no_picture: Annotated[bool, typer.Option("--no-picture", help="Make no contact sheet.")] = False,
    json: Json = False,
    *,
    told: Told,
) -> None:
    """Say what a scene is taken for, and why.

    Also its views, baselines, units, range of disparities, and with which command to estimate it; and make a contact
    sheet, a picture of all its views (where their cameras stand, if that is a grid).
    """
    from gradcon.cli.scene_info import describe_scene, info_table
    from gradcon.files import write_file
    from gradcon.io import open_frames
    from gradcon.io.outputs import CONTACT_SHEET
    from gradcon.pictures.contact_sheet import contact_sheet, on_a_grid

    if picture is not None and (no_picture or picture.suffix.lower() != ".png"):
        what = "and --no-picture exclude each other" if no_picture else f"{picture} does not end in .png"
        raise InputError(f"picture: {what}; correct the options.")
    found = open_frames(scene, **told)
    described = describe_scene(found)
    if not no_picture:
        target = picture or Path(f"{_file_name(described['name'])}{CONTACT_SHEET}")
        try:
            write_file(target, contact_sheet(found.listing))
            described["contact_sheet"] = str(target)
        except InputError as error:
            if picture is not None or not str(error).startswith(str(target)):
                raise
            print(f"no contact sheet: {error}", file=sys.stderr)  # the folder is not the user's to write into
    path = f"./{scene}" if str(scene).startswith("-") else str(scene)
    described["command"] = ["gradcon", "estimate", path, "--out", "out", *as_options(told)]
    text = info_table(described, described["command"])
    if "contact_sheet" in described:
        order = "where their cameras stand" if on_a_grid(found.listing) else "one after the other"
        text += f"\n{'picture':11} {described['contact_sheet']}: all views, {order}, the reference framed"
    print(as_json(described) if json else text)


@app.command("synth")
def _synth(
    name: Annotated[str | None, typer.Argument(help="A scene; --list names them.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder to write into; created where it is missing.")] = None,
    size: Annotated[str, typer.Option(help="Pixels of a view: 256, or WIDTHxHEIGHT.")] = "256",
    views: Annotated[str, typer.Option(help="Which of the 9 x 9 views: cross, star, all, or the N nearest.")] = "cross",
    seed: Annotated[int, typer.Option(help="Of the textures.")] = 0,
    list_scenes: Annotated[bool, typer.Option("--list", help="List the scenes.")] = False,
) -> None:
    """Write a synthetic scene with exact ground truth.

    It becomes a folder of the 4D Light Field Benchmark, or for `rotated`, whose cameras are no grid, with a rig.toml.
    """
    from gradcon import synth

    if list_scenes:
        for known, world in synth.SCENES.items():
            print(f"{known:12} {(world.__doc__ or '').strip().splitlines()[0]}")
        return
    if name not in synth.SCENES:
        asked = "name: no scene is named" if name is None else f"{name}: is not a synthetic scene"
        raise InputError(f"{asked}; choose one of {', '.join(synth.SCENES)}.")
    if out is None:
        raise InputError("out: no folder is given to write the scene into; add --out DIR.")
    refuse_unwritable(out)
    height, width = _size(size)
    folder = synth.write(name, out, (height, width), views=views, seed=seed)
    count = len(list(folder.glob("*.png")))
    print(f"{name}: wrote {count} views of {width} x {height}, with ground truth, to {folder}")


def _file_name(name: str) -> str:
    """A scene's name without what cannot be in the name of a file."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name).strip(".") or "scene"


def _size(text: str) -> tuple[int, int]:
    """(height, width) of "256" or "640x480"."""
    parts = text.split("x")
    if len(parts) > 2 or not all(part.isdecimal() and 0 < int(part) <= 8192 for part in parts):
        raise InputError(f"size: {text!r} is neither a number of pixels nor WIDTHxHEIGHT, each from 1 to 8192.")
    return int(parts[-1]), int(parts[0])
