"""The scenes that a folder holds: found, opened once, hashed; what cannot be used is named."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gradcon.errors import InputError
from gradcon.io import open_scene
from gradcon.io.hci import is_hci
from gradcon.io.middlebury import is_middlebury
from gradcon.jobs.job import sha256_of, sha256_of_array
from gradcon.scene import Scene

DEPTH = 3  # folders in folders: HCI comes in additional/, stratified/ and training/


@dataclass(frozen=True)
class Kind:
    """What the paper says about a dataset."""

    label: str
    views: str  # as `open_scene` takes them
    folds: int
    scenes: int  # in the paper


KINDS = {
    "hci": Kind("4D Light Field Benchmark", "cross", folds=6, scenes=24),
    "middlebury": Kind("Middlebury 2006", "all", folds=7, scenes=21),
}


@dataclass(frozen=True)
class KnownScene:
    """A scene that can be used."""

    name: str
    folder: Path
    sha256: str  # of pixels, geometry and ground truth
    views: int
    size: tuple[int, int]  # width, height
    disparity_range: tuple[float, float]  # of the ground truth, pixels per unit baseline


@dataclass(frozen=True)
class Dataset:
    """The usable scenes of a folder, sorted by name."""

    kind: Kind
    entries: list[KnownScene]
    skipped: list[str] = field(default_factory=list)  # a sentence each

    @property
    def folds(self) -> list[list[str]]:
        """Names of the scenes of each fold: as many folds as the paper has, or as there are scenes."""
        names = [entry.name for entry in self.entries]
        count = min(self.kind.folds, len(names))
        return [names[k::count] for k in range(count)]

    def spread(self, count: int) -> list[KnownScene]:
        """At most `count` of the scenes, from the whole length of the list."""
        picked = np.linspace(0, len(self.entries) - 1, min(count, len(self.entries)))
        return [self.entries[round(k)] for k in picked]

    def named(self, name: str) -> KnownScene | None:
        return next((entry for entry in self.entries if entry.name.rsplit("/")[-1] == name), None)


def find(folder: Path, kind: str) -> Dataset:
    """All scenes in `folder` and the folders in it; an InputError if there is none that can be used."""
    is_scene = is_hci if kind == "hci" else is_middlebury
    if not folder.is_dir():
        what = "is a file, not a folder" if folder.exists() else "there is no such folder"
        raise InputError(f"{folder}: {what}; give the folder that holds the scenes.")
    found, skipped = _walk(folder, is_scene, DEPTH)
    if not found:
        raise InputError(f"{folder}: holds no scene of the {KINDS[kind].label}; give the folder that holds its scenes.")
    named = Counter(path.resolve().name for path in found)
    entries: dict[str, KnownScene] = {}  # by hash
    for path in found:
        unique = named[path.resolve().name] == 1
        try:
            entry = _entry(path, path.resolve().name if unique else path.relative_to(folder).as_posix(), kind)
        except InputError as error:
            skipped.append(str(error))
            continue
        if entry.sha256 in entries:
            skipped.append(f"{path}: is the same scene as {entries[entry.sha256].folder}.")
        else:
            entries[entry.sha256] = entry
    if not entries:
        raise InputError(f"{folder}: none of its {len(found)} scenes can be used; the first: {skipped[0]}")
    return Dataset(KINDS[kind], sorted(entries.values(), key=lambda entry: entry.name), skipped)


def fingerprint(scene: Scene) -> str:
    """Of all that an estimate and its evaluation depend on."""
    return sha256_of([scene.fingerprint(), sha256_of_array(scene.ground_truth)])


def _walk(folder: Path, is_scene: Callable[[Path], bool], depth: int) -> tuple[list[Path], list[str]]:
    """The scenes in a folder and in those inside it; and what holds none, or cannot be looked into."""
    try:
        if is_scene(folder):
            return [folder], []
        inside = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith((".", "__")))
    except (InputError, OSError) as error:
        return [], [str(error) if isinstance(error, InputError) else f"{folder}: cannot be read ({error.strerror})."]
    found: list[Path] = []
    skipped: list[str] = []
    for path in inside if depth > 0 else []:
        more, less = _walk(path, is_scene, depth - 1)
        found += more
        skipped += less if more or less else [f"{path}: holds no scene."]
    return found, skipped


def _entry(path: Path, name: str, kind: str) -> KnownScene:
    scene = open_scene(path, views=KINDS[kind].views)
    truth = scene.ground_truth
    if truth is None:
        raise InputError(f"{path}: has no ground truth to compare with.")
    if not np.isfinite(truth).any():
        raise InputError(f"{path}: its ground truth knows no pixel.")
    height, width = scene.shape
    return KnownScene(
        name=name,
        folder=Path(os.path.abspath(path)),
        sha256=fingerprint(scene),
        views=1 + len(scene.targets),
        size=(width, height),
        disparity_range=(float(np.nanmin(truth)), float(np.nanmax(truth))),
    )
