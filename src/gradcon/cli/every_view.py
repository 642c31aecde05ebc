"""`gradcon estimate --every-view`: a map for each of several views, in a folder with a folder for each."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from gradcon.cli.app import as_json, say
from gradcon.cli.messages import warn
from gradcon.errors import InputError
from gradcon.io.outputs import VIEWS_LIST
from gradcon.methods.options import Options
from gradcon.result.facts import table
from gradcon.scene.units import DISPARITY_UNIT

if TYPE_CHECKING:
    from gradcon.io import Frames
    from gradcon.result.every_view import EveryView
    from gradcon.scene import Scene

All = Annotated[bool, typer.Option("--every-view", help="A map for every view, in a folder of its own.")]
References = Annotated[
    str | None, typer.Option(metavar="A,B,...", help="A map for each of these views, in a folder of its own.")
]
_COMMA = re.compile(r",(?![^(]*\))")  # "view (4, 4)" is one name


def asked(every_view: bool, references: str | None) -> bool:
    """Return whether maps of several views are asked for; refuse both ways of asking at once."""
    if every_view and references is not None:
        raise InputError("references", "names some views, but --every-view asks for all", "give one of the two")
    return every_view or references is not None


def refuse_still_options(**given: Any) -> None:
    """Refuse options that belong to the estimate of one view."""
    for option, value in given.items():
        if value not in (None, False):
            problem = "applies to the estimate of one view, not to several"
            raise InputError(option.replace("_", "-"), problem, "leave the option out")


def refuse_views_folder(out: Path) -> None:
    """Refuse to put another result among those of several views."""
    if (out / VIEWS_LIST).exists():
        raise InputError(out, "holds the results of several views", "choose another folder")


def estimate_views_of(
    found: Frames,
    chosen: range,
    out: Path,
    options: Options,
    *,
    references: str | None,
    prepare: Callable[[Scene], Scene],
    what: dict[str, Any],
    engine: str,
    json: bool,
) -> None:
    """Estimate several views of a scene, save their maps and print a summary; `what` is also written."""
    from gradcon import estimate_views
    from gradcon.result import views_folder

    if len(chosen) > 1:
        problem = (
            f"{found.listing.source} is a video of {len(found)} frames, and only one can get maps of several views"
        )
        raise InputError("every-view", problem, "choose a frame with --frames")
    if out.resolve() == found.listing.source.resolve():
        raise InputError(out, "is the folder of the scene itself", "write the results into another folder")
    names = [name.strip() for name in _COMMA.split(references)] if references is not None else None
    opened = prepare(found[chosen[0]])
    views_folder.refuse_other(out, names or [opened.reference_name, *opened.target_names])  # before the long run
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are shown below
        every = estimate_views(opened, options, references=names, engine=engine, progress=True)
    every.save(out, **what)
    warn(every.warnings)
    say(as_json(_summary(every, out)) if json else _describe(every, out))


def _summary(every: EveryView, out: Path) -> dict[str, Any]:
    return {
        "folder": str(out),
        "reference": every.scene.reference_name,
        "views": {name: said.summary() for name, said in every.agreement.items()} or list(every.results),
        "seconds": every.seconds,
        "warnings": every.warnings,
    }


def _describe(every: EveryView, out: Path) -> str:
    """Summarise the estimate, for people."""
    scene, results = every.scene, every.results
    height, width = scene.shape
    first = next(iter(results.values()))
    deviation = np.median([np.median(result.uncertainty) for result in results.values()])
    note = f" ({first.engine_note})" if first.engine_note else ""
    rows = [
        ("scene", f"{scene.name}: {len(scene.colours)} views of {width} x {height}, {len(results)} of them with a map"),
        ("uncertainty", f"{deviation:.4f} {DISPARITY_UNIT}: median predicted standard deviation"),
    ]
    if every.agreement:
        said = [each.summary() for each in every.agreement.values()]
        mean = {name: float(np.mean([each[name] for each in said])) for name in said[0]}
        rows.append(
            ("agreement", f"{mean['confirmed']:.1f} % of the views that see a pixel confirm it; "
                          f"{mean['occluded']:.1f} % of the pixels are hidden from a view, "
                          f"{mean['corrected']:.1f} % were corrected and {mean['unknown']:.1f} % are unknown")
        )  # fmt: skip
    if first.metrics:
        rows.append(("accuracy", f"RMSE {first.metrics['rmse']:.4f} in {first.scene.reference_name}"))
    rows.append(("engine", f"{first.engine}{note}, {len(results)} maps in {every.seconds['total']:.2f} s"))
    rows.append(("written", f"{out}: {VIEWS_LIST}, and a folder of results for each view"))
    return table(rows)
