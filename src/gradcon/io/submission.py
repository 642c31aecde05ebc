"""Submissions to the 4D Light Field Benchmark: write results in its layout, and check them.

    disp_maps/boxes.pfm     disparity of the centre view, 512 x 512
    runtimes/boxes.txt      seconds, one number on the first line

and the same for its other eleven scenes.  Unlike other readers of PFM, the benchmark's reader multiplies the values by
the magnitude of the header's scale, which must therefore be 1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gradcon.errors import InputError
from gradcon.files import as_path, files_in, make_folder, read_text, write_files
from gradcon.io import pfm
from gradcon.io.maps import folder as results
from gradcon.io.maps.map import Map
from gradcon.io.outputs import FOUND, SUMMARY
from gradcon.scene.numbers import finite_number
from gradcon.scene.units import DISPARITY_SIGN, DISPARITY_UNIT

CATEGORIES = {
    "stratified": ("backgammon", "dots", "pyramids", "stripes"),
    "training": ("boxes", "cotton", "dino", "sideboard"),
    "test": ("bedroom", "bicycle", "herbs", "origami"),
}
SCENES = tuple(scene for scenes in CATEGORIES.values() for scene in scenes)
REFERENCE = "input_Cam040.png"  # the centre view, to which the benchmark's ground truth belongs
SIZE = 512
MAPS, RUNTIMES = "disp_maps", "runtimes"
# A first solve that took longer than 5 s plus 5 times the longest other solve also compiled the engine.
COMPILED_SECONDS, COMPILED_FACTOR = 5.0, 5.0
_REWRITE = "write it again from a result"
_HEADER = re.compile(rb"Pf\r?\n512 512\r?\n-?1(\.0*)?\r?\n")


@dataclass(frozen=True)
class Check:
    """What a check of a submission found.

    Attributes
    ----------
    seconds : dict of str to float
        Runtimes of the complete and correct scenes, by name.
    missing : list of str
        Missing files, relative to the folder.
    wrong : list of str
        A sentence for each wrong file, which begins with its path.
    """

    seconds: dict[str, float]
    missing: list[str]
    wrong: list[str]

    @property
    def complete(self) -> bool:
        """Whether the submission can be handed in."""
        return not self.missing and not self.wrong


def write(folder: str | Path, given: Iterable[str | Path]) -> list[str]:
    """Write results into a submission, and return the names of their scenes.

    All results are checked before the first one is written.  A scene that the submission already holds is replaced.

    Raises
    ------
    InputError
        A result is not the centre view of one of the twelve scenes, in the benchmark's unit, sign and size, with a
        value for every pixel; or two results have different parameters, although the benchmark asks for one set.
    """
    found: dict[str, tuple[Path, Map, float]] = {}
    first: tuple[Path, dict[str, Any]] | None = None
    for path in map(as_path, given):
        if not path.is_dir():
            raise InputError(path, "is not a folder", "give the folder of a result that `gradcon estimate` wrote")
        summary = results.read_summary(path)
        disparity, seconds = _checked(path, summary)
        scene = str(disparity.scene).lower()
        if scene in found:
            raise InputError(path, f"shows the scene {scene}, as {found[scene][0]} does", "give only one of them")
        parameters = {k: v for k, v in results.entry(summary, "parameters").items() if k not in FOUND}
        first = first or (path, parameters)
        for name in sorted(first[1] | parameters):
            if first[1].get(name) != parameters.get(name):
                other = f"{first[0]} with {first[1].get(name)}"
                problem = f"was estimated with {name} {parameters.get(name)}, but {other}"
                raise InputError(path, problem, "estimate all scenes with the same parameters, as the benchmark asks")
        found[scene] = path, disparity, seconds
    root = as_path(folder)
    for name in (MAPS, RUNTIMES):
        make_folder(root / name)

    def files() -> Iterator[tuple[str, bytes]]:
        for scene, (_, disparity, seconds) in found.items():
            yield f"{MAPS}/{scene}.pfm", pfm.encode(disparity.values)
            yield f"{RUNTIMES}/{scene}.txt", f"{seconds!r}\n".encode()

    write_files(root, files())
    return list(found)


def validate(folder: str | Path) -> Check:
    """Check everything in the folder of a submission."""
    root = as_path(folder)
    if not root.is_dir():
        raise InputError(root, "does not exist", "give the folder of a submission, or results to write into it")
    wrong = _strangers(root, (MAPS, RUNTIMES), folders=True)
    wrong += _strangers(root / MAPS, [f"{scene}.pfm" for scene in SCENES])
    wrong += _strangers(root / RUNTIMES, [f"{scene}.txt" for scene in SCENES])
    missing: list[str] = []
    seconds: dict[str, float] = {}
    for scene in SCENES:
        map_path, runtime_path = root / MAPS / f"{scene}.pfm", root / RUNTIMES / f"{scene}.txt"
        absent = [str(path.relative_to(root)) for path in (map_path, runtime_path) if not path.exists()]
        runtime, errors = math.nan, list[str]()
        try:
            if map_path.exists():
                _check_map(map_path)
        except InputError as error:
            errors.append(str(error))
        try:
            if runtime_path.exists():
                runtime = _read_runtime(runtime_path)
        except InputError as error:
            errors.append(str(error))
        missing += absent
        wrong += errors
        if not absent and not errors:
            seconds[scene] = runtime
    return Check(seconds, missing, wrong)


def _refuse_compilation(path: Path, summary: dict[str, Any]) -> None:
    """Refuse a runtime that is mostly compilation, as in the first run on a machine."""
    history = summary.get("history")
    solves = [row.get("seconds") for row in history if isinstance(row, dict)] if isinstance(history, list) else []
    times = [float(value) for value in solves if isinstance(value, (int, float))]
    if len(times) > 1 and times[0] > COMPILED_SECONDS + COMPILED_FACTOR * max(times[1:]):
        problem = f"its first solve took {times[0]:.0f} s, because the first run on a machine compiles the engine"
        raise InputError(path, problem, "estimate the scene again to measure its runtime")


def _checked(path: Path, summary: dict[str, Any]) -> tuple[Map, float]:
    """Read the disparity and the runtime of a result; refuse what the benchmark would not accept."""
    disparity = results.read(path / results.FILES["disparity"])
    if str(disparity.scene).lower() not in SCENES:
        problem = f"shows {disparity.scene!r}, which is not a scene of the benchmark"
        raise InputError(path, problem, f"give results of {', '.join(SCENES)}")
    if (disparity.unit, disparity.sign) != (DISPARITY_UNIT, DISPARITY_SIGN):
        benchmark = f"{DISPARITY_UNIT!r}, {DISPARITY_SIGN!r}"
        problem = f"its disparity is in {disparity.unit!r}, {disparity.sign!r}, but the benchmark's is in {benchmark}"
        raise InputError(path, problem, "estimate the scene again")
    if str(disparity.reference).lower() != REFERENCE.lower():
        problem = f"its reference is {disparity.reference}, but the benchmark asks for the centre view"
        raise InputError(path, problem, f"estimate the scene with {REFERENCE} as its reference")
    if problem := _why_unusable(disparity.values):
        raise InputError(path / results.FILES["disparity"], problem, "estimate the scene again")
    seconds = finite_number(results.entry(summary, "seconds").get("total"))
    if seconds is None or seconds <= 0:
        raise InputError(path / SUMMARY, "does not say how many seconds the run took", "estimate the scene again")
    _refuse_compilation(path, summary)
    return disparity, seconds


def _check_map(path: Path) -> None:
    values = pfm.read_pfm(path)
    if problem := _why_unusable(values):
        raise InputError(path, problem, _REWRITE)
    try:
        with path.open("rb") as file:
            head = file.read(64)
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})", "check its permissions") from None
    if not _HEADER.match(head):
        problem = "its header is not 'Pf', '512 512' and a scale of 1 or -1, each on a line of its own"
        raise InputError(path, problem, _REWRITE)


def _why_unusable(values: Any) -> str:
    """Return why the benchmark would reject a map; an empty text if it would not."""
    height, width = values.shape
    if (height, width) != (SIZE, SIZE):
        return f"is {width} x {height} pixels, but the benchmark's maps are {SIZE} x {SIZE}"
    bad = int(np.count_nonzero(~np.isfinite(values)))
    return f"holds {bad} values that are NaN or infinite" if bad else ""


def _read_runtime(path: Path) -> float:
    lines = read_text(path, 2**16).splitlines() or [""]
    try:
        seconds = float(lines[0])
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds > 0) or any(line.strip() for line in lines[1:]):
        raise InputError(path, "is not one positive number of seconds", _REWRITE)
    return seconds


def _strangers(folder: Path, known: Iterable[str], *, folders: bool = False) -> list[str]:
    """Return a sentence for everything that does not belong in a folder of a submission."""
    if not folder.is_dir():
        return []
    expected = "folder" if folders else "file"
    names = set(known)
    found = []
    for path in files_in(folder):
        if path.name not in names:
            found.append(InputError(path, "does not belong in a submission", "remove it"))
        elif path.is_dir() != folders:
            found.append(InputError(path, f"is not a {expected}", "remove it"))
    return [str(error) for error in found]
