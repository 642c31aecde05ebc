"""`gradcon doctor`: find out what is wrong with the views of a scene, and show the evidence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gradcon.cli import openings
from gradcon.cli.app import Json, SceneArgument, app, as_json, check_picture, say
from gradcon.cli.groups import grouped
from gradcon.cli.parameters import Engine, Flip
from gradcon.errors import printable

if TYPE_CHECKING:
    from gradcon.methods.examination import Examination, PairOfLayouts, ViewEvidence
    from gradcon.methods.look.hidden import Behind
    from gradcon.scene import Scene

NOTHING = "Nothing is wrong with these views."
NAME = 28  # letters of a view's name
HEADS = ("view", "baseline", "gain", "offset", "residual", "ratio", "beside", "verdict")


@app.command("doctor")
@grouped
def _doctor(
    scene: SceneArgument,
    views: openings.Views = "all",
    flip: Flip = None,
    picture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also draw how each view differs from the reference into this PNG file."),
    ] = None,
    engine: Engine = "auto",
    json: Json = False,
    *,
    told: openings.ToldAboutScene,
) -> int:
    """Find out what is wrong with the views of a scene, and show the evidence.

    It says what `estimate` would warn of, and shows by which view, and how clearly: gains, residuals, displacements,
    and what other layouts of the cameras would give.  The exit code is 1 if something is wrong.
    """
    from gradcon import engines
    from gradcon.cli.messages import warn
    from gradcon.files import write_file
    from gradcon.io import open_frames
    from gradcon.methods.examination import FITS, examine
    from gradcon.pictures.residual_sheet import residual_sheet
    from gradcon.scene.layout import Layout
    from gradcon.scene.variants import laid_out

    engines.check(engine)
    layout = Layout.parse(flip)
    check_picture(picture)
    opened = open_frames(scene, views=views, **told)[0]
    if flip:
        opened = laid_out(opened, layout)
    found = examine(opened, engine)
    fields, text = found.fields(), _text(opened, found)
    if picture is not None:
        odd = [view.view for view in found.views if view.verdict != FITS]
        write_file(picture, residual_sheet(opened, found.maps, odd))
        fields["picture"] = str(picture)
        text += f"\n{'picture':11} {picture}: how each view differs from the reference"
    warn(found.doubts)
    say(as_json({"scene": opened.name, "reference": opened.reference_name, **fields}) if json else text)
    if not found.doubts and not json:
        say(f"\n{NOTHING}")
    return int(bool(found.doubts))


def _text(scene: Scene, found: Examination) -> str:
    height, width = scene.shape
    lines = [
        ("scene", f"{scene.name}: {len(scene.colours)} views of {width} x {height}, reference {scene.reference_name}"),
        *found.findings.lines(),
        *_hidden(found.behind),
    ]
    facts = "\n".join(f"{name:11} {printable(text)}" for name, text in lines)
    by_view = _table([HEADS, *(_row(view) for view in found.views)])
    note = "residual: mean difference in levels of 255, and its ratio to the median; beside: pixels beside its place"
    text = f"{facts}\n\n{by_view}\n{note}\n"
    if found.layouts:
        text += "\n" + _table([("layout", "difference", ""), *(_layout(pair) for pair in found.layouts)]) + "\n"
    return text


def _row(view: ViewEvidence) -> tuple[str, ...]:
    name = view.view if len(view.view) <= NAME else "…" + view.view[1 - NAME :]
    return (
        name,
        ", ".join(f"{part:.4g}" for part in view.baseline),
        " ".join(f"{gain:.2f}" for gain in _short(view.gain, 0.02)),
        " ".join(f"{offset:+.1f}" for offset in _short(view.offset, 2.0)),
        "-" if view.residual is None else f"{view.residual:.2f}",
        "-" if view.ratio is None else f"{view.ratio:.2f}",
        f"{view.beside:.2f}",
        view.verdict,
    )


def _short(channels: list[float], same: float) -> list[float]:
    """Return one value if all channels have about the same."""
    return [sum(channels) / len(channels)] if max(channels) - min(channels) < same else channels


def _layout(pair: PairOfLayouts) -> tuple[str, str, str]:
    names = " or ".join(f"--flip {flip}" if flip else "no --flip" for flip in pair.flips)
    return names, f"{pair.difference:.2f}", "as given" if pair.given else ""


def _hidden(behind: Behind | None) -> list[tuple[str, str]]:
    """Say how near and far were told apart, if they were."""
    if behind is None:
        return []
    near, far = (f"{255 * difference:.1f}" for difference in (behind.nearer, behind.farther))
    return [("near, far", f"pixels behind nearer surfaces differ by {near}, those behind farther ones by {far}")]


def _table(rows: list[tuple[str, ...]]) -> str:
    rows = [tuple(map(printable, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
