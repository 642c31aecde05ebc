"""`gradcon fuse`: the maps of several views in one point cloud or one mesh."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gradcon.cli import openings
from gradcon.cli.app import Json, app, as_json, refuse_result_file, refuse_unwritable, say
from gradcon.cli.groups import grouped
from gradcon.errors import InputError
from gradcon.result.points import KEEP

if TYPE_CHECKING:
    from gradcon.fusion import FusedCloud, Mesh


@app.command("fuse")
@grouped
def _fuse(
    results: Annotated[
        list[Path],
        typer.Argument(metavar="RESULT...", help="Results of different views of one scene; the first one is foremost."),
    ],
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="A .ply for the points; a .glb or a .obj for the mesh.")
    ] = Path("fused.ply"),
    mesh: Annotated[bool, typer.Option("--mesh", help="Write the mesh into the .ply, instead of the points.")] = False,
    keep: Annotated[
        float | None,
        typer.Option(help=f"The share of the surest pixels to use [default: 1; {KEEP} of a single result]."),
    ] = None,
    confirm: Annotated[int, typer.Option(help="How many other views must confirm a point.")] = 1,
    scene: Annotated[
        Path | None, typer.Option(metavar="SCENE", help="The views, for colours in full and for cameras off a plane.")
    ] = None,
    json: Json = False,
    *,
    told: openings.ToldAboutViews,
) -> None:
    """Fuse the maps of several views into one point cloud, or one mesh.

    Each surface becomes one layer: points that views agree on are merged, and points that no other view confirms, or
    that others see through, are dropped.  The mesh is cut where the depth jumps.
    """
    from gradcon.files import write_file
    from gradcon.fusion.folder import read_maps, stored_results
    from gradcon.fusion.merging import check_confirm, fuse_maps
    from gradcon.io import meshes, open_scene, ply
    from gradcon.result.points import check_keep

    check_keep(KEEP if keep is None else keep)
    check_confirm(confirm)
    meshes.check(out)
    refuse_result_file(out)
    refuse_unwritable(out.parent, [out.name])
    if scene is None and any(value not in (None, False) for value in told.values()):
        option = openings.as_options(told)[0]
        raise InputError(option.lstrip("-"), "describes the scene, which is not given", "add --scene SCENE")
    found = stored_results(results)
    opened = open_scene(scene, **{**told, "reference": found[0].reference}) if scene is not None else None
    cloud = fuse_maps(read_maps(found, opened), keep, confirm)
    made = cloud.mesh() if mesh or out.suffix.lower() != ".ply" else None
    write_file(out, ply.encode(cloud) if made is None else meshes.encode(made, out))
    say(as_json(_described(cloud, made, out)) if json else _table(cloud, made, out))


def _described(cloud: FusedCloud, mesh: Mesh | None, out: Path) -> dict[str, Any]:
    from dataclasses import asdict

    shape = {"corners": len(mesh.positions), "triangles": len(mesh)} if mesh is not None else None
    return {
        "scene": cloud.name,
        "reference": cloud.reference,
        "unit": cloud.unit,
        **asdict(cloud.counts),
        "mesh": shape,
        "file": str(out),
    }


def _table(cloud: FusedCloud, mesh: Mesh | None, out: Path) -> str:
    """Say what was fused and written, for people."""
    from gradcon.progress import counted
    from gradcon.result.facts import table

    counts = cloud.counts
    confirmed = f", shown by {cloud.views.mean():.1f} views on average" if counts.views > 1 else ""
    rows = [
        ("scene", f"{cloud.name}: {counted(counts.views, 'view')}, reference {cloud.reference}"),
        ("pixels", f"{counts.pixels:,}"),
        ("points", f"{counts.points:,}{confirmed}"),
        ("merged", f"{counts.merged:,} pixels into the points of earlier views"),
        ("dropped", counts.reasons()),
    ]
    if mesh is not None:
        rows.append(("mesh", f"{len(mesh):,} triangles between {len(mesh.positions):,} points"))
    return table([*rows, ("written", f"{out} ({out.stat().st_size / 1e6:.1f} MB)")])
