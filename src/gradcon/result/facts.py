"""The facts about a result in rows of a name and a text, and how they read when they are printed."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcon.arrays import to_host
from gradcon.errors import printable
from gradcon.result.depth import calibration_of, depth_remarks, depth_summary
from gradcon.scene.units import DISPARITY_SIGN, DISPARITY_UNIT

if TYPE_CHECKING:
    from gradcon.result.result import Result

Fact = tuple[str, str]

NAMES = 12  # letters of the column of names


def facts_of(result: Result) -> list[Fact]:
    """Return the facts about a result, without its warnings."""
    source, w = result.source, result.disparity
    note = f" ({result.engine_note})" if result.engine_note else ""
    deviation = float(np.median(to_host(result.uncertainty)))
    facts = [
        ("scene", f"{source['name']}: {source['views']} views of {source['width']} x {source['height']}, "
                  f"reference {source['reference']}"),
        ("disparity", f"{float(w.min()):.3f} to {float(w.max()):.3f} {DISPARITY_UNIT} ({DISPARITY_SIGN})"),
    ]  # fmt: skip
    if result.scene.calibration is not None:
        facts.append(("depth", _depth(result)))
    facts.append(("uncertainty", f"{deviation:.4f} {DISPARITY_UNIT}: median predicted standard deviation"))
    if result.metrics:
        rmse, bad = result.metrics["rmse"], result.metrics["badpix_007"]
        facts.append(("accuracy", f"RMSE {rmse:.4f}, {bad:.1f} % of pixels off by more than 0.07"))
    facts += result.findings.lines() if result.findings is not None else []
    if choices := result.parameters.get("choices"):
        facts.append(("choices", choices_in_words(choices)))
    facts.append(("engine", f"{result.engine}{note}, {result.effort} in {result.seconds['total']:.2f} s"))
    facts.append(("stopped", str(result.stopped)))
    return facts


def choices_in_words(choices: Mapping[str, Any]) -> str:
    """Name the choices about the paper that are not made as by default."""
    return ", ".join(f"{name}={value}" for name, value in choices.items())


def _depth(result: Result) -> str:
    fields = depth_summary(result.depth(), calibration_of(result.scene).unit)
    if not fields["unknown_pixels"] < result.disparity.size:
        return "unknown: all disparities are beyond that of infinity"
    unit = fields["unit"] or "in the unit of the cameras' positions"
    text = f"{fields['min']:.4g} to {fields['max']:.4g} {unit}, median {fields['median']:.4g}"
    return "; ".join([text, *depth_remarks(fields)])


def table(facts: Iterable[Fact], width: int | None = None) -> str:
    """Print facts below each other; texts are wrapped at `width` letters if it is given."""
    lines = []
    for name, told in facts:
        text = printable(told)
        parts = textwrap.wrap(text, width - NAMES, break_on_hyphens=False) if width else [text]
        lines += [f"{label:{NAMES - 1}} {part}" for label, part in zip([name, *[""] * len(parts)], parts, strict=False)]
    return "\n".join(lines)
