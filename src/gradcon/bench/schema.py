"""The figures of `gradcon bench`, as types: what `--json` writes.

`docs/benchmarks.md` explains each field.  A test compares these types with that page and with what the command writes.
A field may be added under the same `SCHEMA`; a field that is renamed, removed or given another meaning needs a new one.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

SCHEMA = "gradcon-bench-1"


class Versions(TypedDict):
    python: str
    gradcon: str
    numpy: str
    scipy: str
    numba: str


class Figures(TypedDict):
    """What all measurements begin with."""

    schema: str
    kind: Literal["solve", "sweep", "ratios"]
    date: str
    processor: str
    cores: int
    versions: Versions
    engine: str


class SceneFigures(TypedDict):
    name: str
    width: int
    height: int
    views: int
    scales: int


class SolveSeconds(TypedDict):
    warp: float
    data_term: float
    solve: float
    update: float
    total: float


class SolveFigures(TypedDict):
    """Medians over the solves of one engine."""

    seconds: SolveSeconds
    inner_iterations: float


class StageFigures(TypedDict):
    bytes: float
    operations: float
    bandwidth_share: float
    arithmetic_share: float
    floor_seconds: float


class StagesFigures(TypedDict):
    warp: StageFigures
    data_term: StageFigures
    solve: StageFigures
    update: StageFigures


class SharesFigures(TypedDict):
    stages: StagesFigures
    copy_bytes_a_second: float
    operations_a_second: float


class DeviceFigures(SharesFigures):
    name: str


class RunMilliseconds(TypedDict):
    on_device: float
    host_to_host: float
    estimate: float


class RunFigures(TypedDict):
    milliseconds: RunMilliseconds
    solves: int


class MemoryFigures(TypedDict):
    peak_memory_mb: float
    import_memory_mb: float
    device_memory_mb: NotRequired[float]


class Bench(Figures, SolveFigures, MemoryFigures):
    """`gradcon bench`."""

    scene: SceneFigures
    solves: int
    reference: SolveFigures | None
    ratio: float | None
    device: NotRequired[DeviceFigures]
    run: NotRequired[RunFigures]


class SweepRow(SolveFigures):
    size: int
    views: int
    on_cross: int
    off_cross: int
    ns_a_pixel_and_view: float


class Sweep(Figures):
    """`gradcon bench --sweep`."""

    solves: int
    scales: int
    rows: list[SweepRow]


class Ratio(TypedDict):
    """How long one thing takes compared with another: the median, least and largest ratio of the rounds."""

    ratio: float | None
    low: float | None
    high: float | None
    seconds: float | None
    compared_seconds: float | None
    skipped: str | None


class RatiosByName(TypedDict):
    """The first in units of the second; the names say which."""

    reference_to_engine: Ratio
    gcm_to_dis: Ratio
    sweep_to_dis: Ratio
    six_scales_to_three: Ratio
    views_81_to_17: Ratio


class RatiosScene(TypedDict):
    name: str
    width: int
    height: int
    views: int


class Ratios(Figures):
    """`gradcon bench --ratios`."""

    scene: RatiosScene
    solves: int
    rounds: int
    ratios: RatiosByName
