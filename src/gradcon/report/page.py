"""The page itself: data, script and style in one HTML file that requests nothing from the network."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gradcon import __version__
from gradcon.pictures.colour_maps import DEFAULT_MAP, colour_map, range_for
from gradcon.pictures.maps import shown_range
from gradcon.progress import plural
from gradcon.report.facts import badpix, facts, kinds, labels, letter, notes, text
from gradcon.report.folder import ResultPage
from gradcon.report.fused import MAX_POINTS, FusedPoints
from gradcon.report.packing import pack_map, pack_mask, pack_points, pack_records
from gradcon.result.metrics import BADPIX, BORDER
from gradcon.scene.numbers import finite_number
from gradcon.scene.units import DISPARITY_UNIT

HERE = Path(__file__).parent
SCRIPT = (  # the files of script/, in an order in which constants are defined before they are used
    "elements",
    "data",
    "state",
    "solves",
    "cameras",
    "maps",
    "readout",
    "trust",
    "convergence",
    "points",
    "point_cloud",
    "turning",
    "sources",
    "carried",
    "blended",
    "behind",
    "lens",
    "sharpness",
    "sliders",
    "new_views",
    "start",
)
MAPS = ("views", "disparity", "error", "badpix", "uncertainty")


def render(results: Sequence[ResultPage], left_out: Sequence[str] = (), cmap: str = DEFAULT_MAP) -> str:
    """Render the page of some results as HTML; `left_out` has a sentence for each result that could not be read."""
    from jinja2 import Environment, StrictUndefined
    from matplotlib import colormaps

    arrays: dict[str, str] = {}
    described = [_result(result, f"r{k}", arrays) for k, result in enumerate(results)]
    for k, label in enumerate(labels([result.folder for result in results])):
        described[k] |= {"letter": letter(k, len(results)), "label": text(label)}
    data = {
        "results": described,
        "scales": _scales(results, cmap),
        "thresholds": sorted(BADPIX),
        "border": BORDER,
        "points": MAX_POINTS,
        "unit": DISPARITY_UNIT,
        "kind": kinds(results),
        "kinds": kinds(results, plural),
        "colours": {
            "disparity": _colours(colour_map(cmap)),
            "error": _colours(colormaps["PuOr_r"]),
            "uncertainty": _colours(colormaps["cividis"]),
        },
    }
    script, style = joined_script(), _read("page.css")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    names = list(dict.fromkeys(text(result.name) for result in results))
    return environment.from_string(_read("page.html.j2")).render(
        title=", ".join(names),
        names=names,
        facts=facts(results),
        notes=notes(results, left_out),
        results=described,
        maps=available(results),
        thresholds=sorted(BADPIX),
        border=BORDER,
        solves=max(result.solves for result in results),
        kind=kinds(results),
        trusted="Trusted scales and views" if _several_scales(results) else "Trusted views",
        version=__version__,
        policy=_policy(script, style),
        data=_json(data),
        arrays=arrays,
        script=script,
        style=style,
    )


def joined_script() -> str:
    """Join the files of the script in one function, so that their names do not become global in the browser."""
    files = "\n".join(_read(f"script/{name}.js") for name in SCRIPT)
    return f'"use strict";\n(() => {{\n{files}}})();\n'


def _read(name: str) -> str:
    return HERE.joinpath(name).read_text(encoding="utf-8")


def available(results: Sequence[ResultPage]) -> list[str]:
    """Return the maps that at least one of the results has."""
    there = {"disparity"}
    for result in results:
        there |= {"views"} if result.views else set()
        there |= {"error", "badpix"} if result.truth is not None else set()
        there |= {"uncertainty"} if result.uncertainty is not None else set()
    return [name for name in MAPS if name in there]


def _result(result: ResultPage, key: str, arrays: dict[str, str]) -> dict[str, Any]:
    maps = {}
    for name in ("disparity", "uncertainty", "truth"):
        values = getattr(result, name)
        if values is not None:
            maps[name], arrays[f"{key}-{name}"] = pack_map(values, decades=name == "uncertainty")
    arrays[f"{key}-keep"] = pack_mask(result.keep)
    described: dict[str, Any] = {
        "key": key,
        "name": text(result.name),
        "reference": text(result.reference),
        "width": result.width,
        "height": result.height,
        "step": result.step,
        "columns": result.disparity.shape[1],
        "rows": result.disparity.shape[0],
        "maps": maps,
        "calibration": _camera(result) if result.calibration is not None else None,
        "cloud": _camera(result),
        "targets": [text(name) for name in result.targets],
        "baselines": result.baselines,
        "history": result.history,
        "kind": result.kind,
        "kinds": plural(result.kind),
        "stopped": text(result.stopped),
        "badpix": {str(limit): badpix(result, limit) for limit in BADPIX},
        "rmse": finite_number(result.metrics.get("rmse")),
        "views": None,
        "weights": None,
        "fused": None,
        "unfused": result.unfused,
    }
    if (views := result.views) is not None:
        arrays[f"{key}-views"] = base64.b64encode(views.jpeg).decode("ascii")
        described["views"] = {
            "columns": views.columns,
            "width": views.width,
            "height": views.height,
            "names": [text(name) for name in views.names],
            "planar": views.planar,
            "baselines": views.baselines,
        }
    if (weights := result.weights) is not None:
        arrays[f"{key}-codes"] = pack_records(weights.codes)
        arrays[f"{key}-before"] = pack_records(weights.disparities)
        described["weights"] = {
            "solves": weights.solves,
            "first": weights.first,
            "step": weights.step,
            "rows": weights.codes.shape[1],
            "columns": weights.codes.shape[2],
            "scales": weights.scales,
            "before_step": weights.disparity_step,
            "before_rows": weights.disparities.shape[1],
            "before_columns": weights.disparities.shape[2],
            "low": weights.low,
            "high": weights.high,
            "after": weights.after,
            "truth": None,
        }
        if result.recorded_truth is not None:
            described["weights"]["truth"], arrays[f"{key}-recorded"] = pack_map(result.recorded_truth)
    if (fused := result.fused) is not None:
        arrays[f"{key}-fused"] = pack_points(fused.positions, fused.colours)
        described["fused"] = _about(fused)
    return described


def _about(fused: FusedPoints) -> dict[str, Any]:
    return {
        "count": len(fused.positions),
        "of": fused.of,
        "maps": fused.maps,
        "confirmed": fused.confirmed,
        "pixels": fused.pixels,
        "merged": fused.merged,
        "dropped": fused.dropped,
    }


def _several_scales(results: Sequence[ResultPage]) -> bool:
    """Return whether any result recorded the trust in several scales."""
    return any(result.weights is not None and len(result.weights.scales) > 1 for result in results)


def _camera(result: ResultPage) -> dict[str, Any]:
    camera = result.cloud
    return {"product": camera.product, "offset": camera.offset, "unit": camera.unit, "K": camera.K.tolist()}


def _scales(results: Sequence[ResultPage], cmap: str) -> dict[str, list[float]]:
    """Return the colour scales that all results share, from percentiles over all of them."""
    disparities = [m for result in results for m in (result.disparity, result.truth) if m is not None]
    deviations = [result.uncertainty for result in results if result.uncertainty is not None]
    errors = [np.abs(result.disparity - result.truth) for result in results if result.truth is not None]
    largest = _span(errors, (0, 97))[1]
    return {
        "disparity": list(range_for(cmap, *_span(disparities, (0.5, 99.5)))),
        "uncertainty": [0.0, _span(deviations, (0, 95))[1]],
        "error": [-largest, largest],
    }


def _span(arrays: Sequence[Any], percentiles: tuple[float, float]) -> list[float]:
    values = np.concatenate([array.ravel() for array in arrays]) if arrays else np.zeros(0)
    return list(shown_range(values, percentiles))


def _colours(table: Any) -> str:
    """Return the 256 colours of one of matplotlib's colour maps, as hexadecimal digits."""
    return bytes(table(np.arange(256), bytes=True)[:, :3].tobytes()).hex()


def _json(data: Any) -> str:
    """Encode as JSON that cannot close the HTML element around it."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _policy(script: str, style: str) -> str:
    """Return a Content-Security-Policy that allows this script, this style, pictures in the page, and nothing else."""
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (script, style)]
    return (
        f"default-src 'none'; script-src 'sha256-{digests[0]}'; style-src 'sha256-{digests[1]}'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
