"""The scenes in a folder: found, opened once and hashed.  Folders that cannot be used are listed with the reason."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gradcon.errors import InputError
from gradcon.files import as_path
from gradcon.io import open_scene
from gradcon.io.formats.hci import is_hci
from gradcon.io.formats.middlebury import is_middlebury
from gradcon.jobs.job import sha256_of, sha256_of_array
from gradcon.scene import Scene

DEPTH = 3  # levels of folders to search: HCI comes in additional/, stratified/ and training/


@dataclass(frozen=True)
class Kind:
    """How the paper uses a dataset."""

    label: str
    views: str  # as `open_scene` takes them
    folds: int
    paper_scenes: int  # how many scenes the paper uses
    stage_part: int  # a stage before the last gets at most one in this many of all solves
    is_scene: Callable[[Path], bool]


KINDS = {
    "hci": Kind("4D Light Field Benchmark", "cross", folds=6, paper_scenes=24, stage_part=3, is_scene=is_hci),
    "middlebury": Kind("Middlebury 2006", "all", folds=7, paper_scenes=21, stage_part=5, is_scene=is_middlebury),
}


@dataclass(frozen=True)
class KnownScene:
    """A scene that can be used, with what is known about it before any job runs."""

    name: str
    folder: Path
    sha256: str  # of pixels, geometry and ground truth
    views: int
    size: tuple[int, int]  # width, height
    disparity_range: tuple[float, float]  # of the ground truth, pixels per unit baseline

    @property
    def last_name(self) -> str:
        """The name without the folders that distinguish it from another scene of the same name."""
        return self.name.rsplit("/")[-1]


@dataclass(frozen=True)
class Dataset:
    """The usable scenes of a folder, sorted by name."""

    kind: Kind
    scenes: list[KnownScene]
    skipped: list[str] = field(default_factory=list)  # a sentence for each folder that cannot be used

    @property
    def folds(self) -> list[list[str]]:
        """The names of the scenes in each fold; as many folds as in the paper, but no empty ones."""
        names = [scene.name for scene in self.scenes]
        count = min(self.kind.folds, len(names))
        return [names[k::count] for k in range(count)]

    def spread(self, count: int) -> list[KnownScene]:
        """Return at most `count` scenes, evenly spread over the list."""
        picked = np.linspace(0, len(self.scenes) - 1, min(count, len(self.scenes)))
        return [self.scenes[round(k)] for k in picked]

    def named(self, name: str) -> KnownScene | None:
        """Return the first scene of this name, in whichever folder it is."""
        return next((scene for scene in self.scenes if scene.last_name == name), None)


def find(folder: Path, kind: str) -> Dataset:
    """Find all scenes in `folder` and its subfolders; raise an InputError if none of them can be used."""
    if not as_path(folder).is_dir():
        problem = "is a file, not a folder" if folder.exists() else "does not exist"
        raise InputError(folder, problem, "give the folder that holds the scenes")
    found, skipped = _walk(folder, KINDS[kind].is_scene, DEPTH)
    if not found:
        raise InputError(folder, f"holds no scene of the {KINDS[kind].label}", "give the folder that holds its scenes")
    count = Counter(path.resolve().name for path in found)
    scenes: dict[str, KnownScene] = {}  # by hash
    errors: list[InputError] = []
    for path in found:
        unique = count[path.resolve().name] == 1
        try:
            scene = _opened(path, path.resolve().name if unique else path.relative_to(folder).as_posix(), kind)
        except InputError as error:
            errors.append(error)
            skipped.append(str(error))
            continue
        if scene.sha256 in scenes:
            skipped.append(f"{path}: is the same scene as {scenes[scene.sha256].folder}.")
        else:
            scenes[scene.sha256] = scene
    if not scenes:
        first = errors[0]
        problem = f"holds {len(found)} scenes, but none can be used; {first.where}: {first.problem}"
        raise InputError(folder, problem, first.remedy)
    return Dataset(KINDS[kind], sorted(scenes.values(), key=lambda scene: scene.name), skipped)


def fingerprint(scene: Scene) -> str:
    """Hash everything that an estimate and its evaluation depend on."""
    return sha256_of([scene.fingerprint(), sha256_of_array(scene.ground_truth)])


def _walk(folder: Path, is_scene: Callable[[Path], bool], depth: int) -> tuple[list[Path], list[str]]:
    """Return the scenes in a folder and its subfolders, and a sentence for each folder without one."""
    try:
        if is_scene(folder):
            return [folder], []
        inside = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith((".", "__")))
    except InputError as error:
        return [], [str(error)]
    except OSError as error:
        return [], [f"{folder}: cannot be read ({error.strerror})."]
    found: list[Path] = []
    skipped: list[str] = []
    for path in inside if depth > 0 else []:
        more, less = _walk(path, is_scene, depth - 1)
        found += more
        skipped += less if more or less else [f"{path}: holds no scene."]
    return found, skipped


def _opened(path: Path, name: str, kind: str) -> KnownScene:
    scene = open_scene(path, views=KINDS[kind].views)
    truth = scene.ground_truth
    if truth is None:
        raise InputError(path, "has no ground truth to compare with", "add its ground truth, or remove the scene")
    if not np.isfinite(truth).any():
        raise InputError(path, "has a ground truth without a single known pixel", "copy or export it again")
    height, width = scene.shape
    return KnownScene(
        name=name,
        folder=Path(os.path.abspath(path)),
        sha256=fingerprint(scene),
        views=len(scene.colours),
        size=(width, height),
        disparity_range=(float(np.nanmin(truth)), float(np.nanmax(truth))),
    )
