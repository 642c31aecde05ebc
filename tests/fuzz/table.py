"""The counts of a hunt by format, for people and for the documentation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fuzz.judge import FINDING, FINE, REFUSED

HEAD = ("format", "cases", "fine", "refused", "findings", "cases a second", "slowest (CPU s)", "growth (MB)")


@dataclass
class Row:
    """What became of the cases of a format; `seconds` sums the wall-clock time over all processes."""

    name: str
    fine: int = 0
    refused: int = 0
    findings: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    growth: int = 0

    @property
    def cases(self) -> int:
        return self.fine + self.refused + self.findings

    def add(self, counts: dict[str, int], seconds: float, slowest: float, growth: int) -> None:
        self.fine += counts[FINE]
        self.refused += counts[REFUSED]
        self.findings += counts[FINDING]
        self.seconds += seconds
        self.slowest, self.growth = max(self.slowest, slowest), max(self.growth, growth)

    def cells(self) -> tuple[str, ...]:
        rate = self.cases / self.seconds if self.seconds else 0
        counts = (self.cases, self.fine, self.refused, self.findings)
        return (self.name, *(f"{k:,}" for k in counts), f"{rate:,.0f}", f"{self.slowest:.2f}", f"{self.growth >> 20:,}")


def markdown(rows: Iterable[Row], wall: float) -> str:
    """Return the table as Markdown; its last row sums up, at the speed of all processes together."""
    rows = list(rows)
    total = Row("all", seconds=wall)
    for row in rows:
        counts = {FINE: row.fine, REFUSED: row.refused, FINDING: row.findings}
        total.add(counts, 0, row.slowest, row.growth)
    cells = [HEAD, *(row.cells() for row in (*rows, total))]
    widths = [max(len(line[k]) for line in cells) for k in range(len(HEAD))]
    lines = ["| " + " | ".join(map(str.rjust, line, widths)) + " |" for line in cells]
    rule = "|" + "|".join("-" * (width + 1) + (":" if k else "-") for k, width in enumerate(widths)) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])
