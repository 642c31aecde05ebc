"""What every measurement says first: its schema, the day, the computer and the software."""

from __future__ import annotations

import datetime
import platform
from pathlib import Path
from typing import Literal, cast

from gradcon.bench.schema import SCHEMA, Figures, Versions
from gradcon.identity import versions
from gradcon.jobs.processes import cores

CPU_INFO = Path("/proc/cpuinfo")


def setting(kind: Literal["solve", "sweep", "ratios"], engine: str) -> Figures:
    """Return the first fields of a measurement."""
    return {
        "schema": SCHEMA,
        "kind": kind,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "processor": _processor(),
        "cores": cores(),
        "versions": cast(Versions, versions()),
        "engine": engine,
    }


def _processor() -> str:
    """Return the processor's name; Python knows only its architecture on Linux."""
    if CPU_INFO.exists():
        for line in CPU_INFO.read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()
