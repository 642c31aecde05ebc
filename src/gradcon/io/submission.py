"""The layout in which the 4D Light Field Benchmark takes submissions, written and checked.

    disp_maps/boxes.pfm     disparity of the centre view, 512 x 512
    runtimes/boxes.txt      seconds, one number on the first line

and so on for its twelve scenes.  Unlike other readers of PFM, the benchmark's multiplies values by the size of the
header's scale, so that must be 1.
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
from gradcon.files import files_in, make_folder, read_text, write_files
from gradcon.io import pfm
from gradcon.io.fields import finite_number
from gradcon.io.maps import folder as results
from gradcon.io.maps.map import Map
from gradcon.scene.units import DISPARITY_SIGN, DISPARITY_UNIT

CATEGORIES = {
    "stratified": ("backgammon", "dots", "pyramids", "stripes"),
    "training": ("boxes", "cotton", "dino", "sideboard"),
    "test": ("bedroom", "bicycle", "herbs", "origami"),
}
SCENES = tuple(scene for scenes in CATEGORIES.values() for scene in scenes)
REFERENCE = "input_Cam040.png"  # the centre view, which the benchmark's truth belongs to
SIZE = 512
MAPS, RUNTIMES = "disp_maps", "runtimes"
COMPILED_SECONDS, COMPILED_FACTOR = 5.0, 5.0  # a first solve longer than so many seconds and so many others compiled
_HEADER = re.compile(rb"Pf\r?\n512 512\r?\n-?1(\.0*)?\r?\n")


@dataclass(frozen=True)
class Check:
    """What a submission holds.

    Attributes
    ----------
    seconds : dict of str to float
        Runtimes of the scenes that are whole and right, by name.
    missing : list of str
        Names of files that are not there, relative to the folder.
    wrong : list of str
        Sentences, each beginning with a file.
    """

    seconds: dict[str, float]
    missing: list[str]
    wrong: list[str]

    @property
    def complete(self) -> bool:
        """Whether it can be handed in."""
        return not self.missing and not self.wrong


def write(folder: str | Path, given: Iterable[str | Path]) -> list[str]:
    """Write folders of results into a submission; return the names of their scenes.

    All are checked before the first is written.  A scene that the submission holds already is replaced.

    Raises
    ------
    InputError
        A result is not the centre view of one of the twelve scenes, in the benchmark's unit, sign and size, with a
        value for every pixel; or two results have different parameters, while the benchmark asks for one set.
    """
    found: dict[str, tuple[Path, Map, float]] = {}
    first: tuple[Path, dict[str, Any]] | None = None
    for path in map(Path, given):
        if not path.is_dir():
            raise InputError(f"{path}: is not a folder of results; give one that `gradcon estimate` wrote.")
        summary = results.read_summary(path)
        disparity, seconds = _checked(path, summary)
        scene = str(disparity.scene).lower()
        if scene in found:
            raise InputError(f"{path}: is of the scene {scene}, as {found[scene][0]} is; give one of them.")
        parameters = results.entry(summary, "parameters")
        first = first or (path, parameters)
        for name in sorted(first[1] | parameters):
            if first[1].get(name) != parameters.get(name):
                raise InputError(
                    f"{path}: was estimated with {name} {parameters.get(name)}, but {first[0]} with "
                    f"{first[1].get(name)}; the benchmark asks for one set of parameters for all scenes."
                )
        found[scene] = path, disparity, seconds
    root = Path(folder)
    for name in (MAPS, RUNTIMES):
        make_folder(root / name)

    def files() -> Iterator[tuple[str, bytes]]:
        for scene, (_, disparity, seconds) in found.items():
            yield f"{MAPS}/{scene}.pfm", pfm.encode(disparity.values)
            yield f"{RUNTIMES}/{scene}.txt", f"{seconds!r}\n".encode()

    write_files(root, files())
    return list(found)


def validate(folder: str | Path) -> Check:
    """Check all that lies in the folder of a submission."""
    root = Path(folder)
    if not root.is_dir():
        raise InputError(f"{root}: there is no such folder; give that of a submission, or results to write into it.")
    wrong = _strangers(root, (MAPS, RUNTIMES), folders=True)
    wrong += _strangers(root / MAPS, [f"{scene}.pfm" for scene in SCENES])
    wrong += _strangers(root / RUNTIMES, [f"{scene}.txt" for scene in SCENES])
    missing: list[str] = []
    seconds: dict[str, float] = {}
    for scene in SCENES:
        map_path, runtime_path = root / MAPS / f"{scene}.pfm", root / RUNTIMES / f"{scene}.txt"
        before = len(missing) + len(wrong)
        missing += [str(path.relative_to(root)) for path in (map_path, runtime_path) if not path.exists()]
        runtime = math.nan
        try:
            if map_path.exists():
                _check_map(map_path)
        except InputError as reason:
            wrong.append(str(reason))
        try:
            if runtime_path.exists():
                runtime = _read_runtime(runtime_path)
        except InputError as reason:
            wrong.append(str(reason))
        if len(missing) + len(wrong) == before:
            seconds[scene] = runtime
    return Check(seconds, missing, wrong)


def _refuse_compilation(path: Path, summary: dict[str, Any]) -> None:
    """Refuse a time that is mostly that of compiling, as on the first run on a machine."""
    history = summary.get("history")
    solves = [row.get("seconds") for row in history if isinstance(row, dict)] if isinstance(history, list) else []
    times = [float(value) for value in solves if isinstance(value, (int, float))]
    if len(times) > 1 and times[0] > COMPILED_SECONDS + COMPILED_FACTOR * max(times[1:]):
        raise InputError(
            f"{path}: its first solve took {times[0]:.0f} s, which is the compilation of a machine's first run and no "
            "runtime; estimate the scene again."
        )


def _checked(path: Path, summary: dict[str, Any]) -> tuple[Map, float]:
    """Disparity and seconds of a result that the benchmark can take."""
    disparity = results.read(path, results.FILES["disparity"])
    if str(disparity.scene).lower() not in SCENES:
        raise InputError(
            f"{path}: is of {disparity.scene!r}, which is none of the benchmark's scenes ({', '.join(SCENES)})."
        )
    if (disparity.unit, disparity.sign) != (DISPARITY_UNIT, DISPARITY_SIGN):
        raise InputError(
            f"{path}: its disparity is in {disparity.unit!r}, {disparity.sign!r}, but the benchmark's is in "
            f"{DISPARITY_UNIT!r}, {DISPARITY_SIGN!r}; estimate the scene again."
        )
    if str(disparity.reference).lower() != REFERENCE.lower():
        raise InputError(
            f"{path}: its map is of {disparity.reference}, but the benchmark asks for the centre view; estimate the "
            f"scene with {REFERENCE} as its reference."
        )
    if reason := _why_unusable(disparity.values):
        raise InputError(f"{path / results.FILES['disparity']}: {reason}; estimate the scene again.")
    seconds = finite_number(results.entry(summary, "seconds").get("total"))
    if seconds is None or seconds <= 0:
        raise InputError(
            f"{path / results.SUMMARY}: says no seconds that the run took in all; estimate the scene again."
        )
    _refuse_compilation(path, summary)
    return disparity, seconds


def _check_map(path: Path) -> None:
    values = pfm.read_pfm(path)
    if reason := _why_unusable(values):
        raise InputError(f"{path}: {reason}; write it again from a result.")
    try:
        with path.open("rb") as file:
            head = file.read(64)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check its permissions.") from None
    if not _HEADER.match(head):
        raise InputError(
            f"{path}: its header is not 'Pf', '512 512' and a scale of 1 or -1, a line each; write it again."
        )


def _why_unusable(values: Any) -> str | None:
    height, width = values.shape
    if (height, width) != (SIZE, SIZE):
        return f"is {width} x {height} pixels, but the benchmark's maps are {SIZE} x {SIZE}"
    bad = int(np.count_nonzero(~np.isfinite(values)))
    return f"holds {bad} values that are NaN or infinite" if bad else None


def _read_runtime(path: Path) -> float:
    lines = read_text(path, 2**16).splitlines() or [""]
    try:
        seconds = float(lines[0])
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds > 0) or any(line.strip() for line in lines[1:]):
        raise InputError(f"{path}: is not one positive number of seconds; write it again.")
    return seconds


def _strangers(folder: Path, known: Iterable[str], *, folders: bool = False) -> list[str]:
    """Sentences on what does not belong in a folder of a submission."""
    if not folder.is_dir():
        return []
    expected = "folder" if folders else "file"
    names = set(known)
    found = []
    for path in files_in(folder):
        if path.name not in names:
            found.append(f"{path}: does not belong in a submission; remove it.")
        elif path.is_dir() != folders:
            found.append(f"{path}: is not a {expected}; remove it.")
    return found
