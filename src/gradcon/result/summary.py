"""Everything about a result but its maps: the fields of result.json, and how they read when they are printed."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from gradcon.io.outputs import RESULT_FORMAT
from gradcon.result.depth import depth_summary
from gradcon.result.facts import Fact, table
from gradcon.scene.units import DISPARITY_SIGN, DISPARITY_UNIT

if TYPE_CHECKING:
    from gradcon.result.result import Result

WIDTH = 100  # letters of a printed line


class Summary(dict[str, Any]):
    """A dictionary that prints as a table of the facts that a person looks for first.

    Examples
    --------
    >>> summary = Summary({"engine": "cpu"}, [("scene", "box"), ("engine", "cpu, 3 passes in 0.21 s")])
    >>> summary["engine"]
    'cpu'
    >>> print(summary)
    scene       box
    engine      cpu, 3 passes in 0.21 s
    """

    def __init__(self, fields: dict[str, Any], facts: list[Fact]) -> None:
        super().__init__(fields)
        self.facts = facts

    def __repr__(self) -> str:
        return table(self.facts, WIDTH)


def summary_fields(result: Result) -> dict[str, Any]:
    """Return everything but the maps of a result in plain types."""
    from gradcon.identity import versions

    calibration = result.scene.calibration
    return {
        "format": RESULT_FORMAT,
        "source": {
            **result.source,
            "sha256": result.scene.fingerprint(),
            "reference_sha256": result.scene.reference_fingerprint(),
        },
        "disparity": {
            "unit": DISPARITY_UNIT,
            "sign": DISPARITY_SIGN,
            "reference": result.source["reference"],
            "min": float(result.disparity.min()),
            "max": float(result.disparity.max()),
        },
        "uncertainty": {"meaning": "predicted standard deviation of the disparity", "unit": DISPARITY_UNIT},
        "calibration": calibration.summary() if calibration is not None else None,
        "depth": depth_summary(result.depth(), calibration.unit) if calibration is not None else None,
        "parameters": result.parameters,
        "findings": result.findings.fields() if result.findings is not None else None,
        "engine": result.engine,
        "engine_note": result.engine_note,
        "stopped": str(result.stopped),
        "stop_reason": result.stopped.reason.name.lower(),
        "warnings": result.warnings,
        "metrics": result.metrics,
        "seconds": result.seconds,
        "versions": versions(),
        "history": [asdict(row) for row in result.history],
    }
