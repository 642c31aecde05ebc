"""The arithmetic, three times: `reference` (NumPy, the judge), `cpu` (Numba) and `cuda` (CuPy), behind one contract."""

from gradcon.engines.choices import BY_DEFAULT, PRINTED, Choices
from gradcon.engines.contract import AnyEngine, DataTerm, Engine, Stage, Step, StepReport, Weighting
from gradcon.engines.device import Clock, Device, Host
from gradcon.engines.registry import (
    AUTO,
    ENGINES,
    NAMES,
    Worker,
    check,
    check_usable,
    create,
    create_sweep,
    device_for,
    kind_for,
)

__all__ = [
    "AUTO",
    "BY_DEFAULT",
    "ENGINES",
    "NAMES",
    "PRINTED",
    "AnyEngine",
    "Choices",
    "Clock",
    "DataTerm",
    "Device",
    "Engine",
    "Host",
    "Stage",
    "Step",
    "StepReport",
    "Weighting",
    "Worker",
    "check",
    "check_usable",
    "create",
    "create_sweep",
    "device_for",
    "kind_for",
]
