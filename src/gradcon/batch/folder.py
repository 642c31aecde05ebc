"""The output folder of a batch: which batch it belongs to, and what is finished in it.

batch.json holds the parameters, which all results in the folder share, the folder of each scene, and the reasons why
scenes failed.  It is written before any result, so that what a killed run leaves behind is known to be the batch's own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from gradcon.batch.checks import check_record
from gradcon.batch.inputs import scene_files, scene_sha256
from gradcon.batch.scenes import SceneFolder, name_folders
from gradcon.damage import inside
from gradcon.errors import InputError
from gradcon.files import files_in, read_bytes, to_json, write_file
from gradcon.io.formats.format import Hints
from gradcon.io.outputs import BATCH_LIST, RESULT_FILES, VIDEO_LIST, holds_records, refuse_foreign_folder
from gradcon.io.outputs import SUMMARY as RESULT
from gradcon.jobs import Store
from gradcon.pictures.thumbnail import FILE as THUMBNAIL

LIST, BATCH_FORMAT = BATCH_LIST, "gradcon-batch-1"
JOBS, TABLE, INDEX = "jobs", "summary.csv", "index.html"
REPORT = "report.html"  # in a scene's folder
OF_A_SCENE = (*RESULT_FILES, THUMBNAIL, REPORT)  # all that a batch writes there


class BatchFolder:
    """The folder `path` as the output of a batch with these parameters."""

    def __init__(self, path: Path, parameters: dict[str, Any]) -> None:
        self.path = path
        self.parameters: dict[str, Any] = json.loads(to_json(parameters))
        self.store = Store(path / JOBS, root=path)

    def refuse_other(self) -> None:
        """Raise an error unless the folder is empty, or holds a batch with the same parameters."""
        kept = self._list()
        if kept is None:
            self._refuse_foreign()
            return
        there: dict[str, Any] = kept["parameters"]
        told, other = _flat(self.parameters), _flat(there)
        for name in sorted(told.keys() | other.keys()):
            if told.get(name) != other.get(name):
                there_and_here = f"{name} {_shown(other.get(name))}, not {_shown(told.get(name))}"
                raise InputError(
                    self.path,
                    f"holds a batch with other parameters ({there_and_here})",
                    "give the same parameters, or choose another folder",
                )

    def refuse_foreign_results(self, paths: Sequence[Path]) -> list[SceneFolder]:
        """Name a folder for each scene; raise an error if one of them exists and does not belong to this batch."""
        taken = self.scenes()
        finished = cache(self.finished)  # read only if a scene may have moved

        def holds(folder: str, path: Path) -> bool:
            kept = finished().get(folder, [])
            if not kept:
                return False
            try:
                here = scene_sha256(path, scene_files(path, Hints(**self.parameters["hints"]), self.path))
            except InputError:  # reported when its turn comes
                return False
            return any(job["job"]["inputs"] == here for job in kept)

        entries = name_folders(paths, taken, (JOBS, TABLE, INDEX, LIST), holds)
        for entry in entries:
            place = self.path / entry.folder
            if place.exists() and entry.path.exists() and place.samefile(entry.path):
                raise InputError(place, "is the folder of the scene itself", "choose another folder for the results")
            holds_other = _holds_foreign if entry.folder in taken else _holds_something  # batch.json may be another's
            if place.is_symlink() or place.is_file() or holds_other(place):
                raise InputError(
                    place, "exists and does not belong to this batch", "move it away, or choose another folder"
                )
        refuse_foreign_folder(self.path, own=[JOBS])
        return entries

    def note_scenes(self, paths: Sequence[Path]) -> list[SceneFolder]:
        """Name a folder for each scene and note it in batch.json; to be called within `store.locked()`."""
        self.refuse_other()
        entries, taken = self.refuse_foreign_results(paths), self.scenes()
        scenes = taken | {entry.folder: str(entry.path) for entry in entries}
        if scenes != taken:
            self._write_list(scenes, self.failures())
        return entries

    def note_failures(self, done: Iterable[str], failures: Mapping[str, str]) -> None:
        """Note the reasons for failures, and forget those of scenes that are done now."""
        before, forgotten = self.failures(), set(done)
        now = {folder: why for folder, why in before.items() if folder not in forgotten} | dict(failures)
        if now != before:
            self._write_list(self.scenes(), now)

    def failures(self) -> dict[str, str]:
        """Return why scenes failed when they were last tried, by their folders."""
        kept = self._list()
        return dict(kept.get("failures", {})) if kept is not None else {}

    def scenes(self) -> dict[str, str]:
        """Return the path of each scene, by its folder."""
        kept = self._list()
        return dict(kept["scenes"]) if kept is not None else {}

    def finished(self) -> dict[str, list[dict[str, Any]]]:
        """Return the finished jobs of each scene's folder, the newest last; there may be some for older inputs."""
        found: dict[str, list[dict[str, Any]]] = {}
        files = [path for path in files_in(self.store.folder) if path.suffix == ".json"]
        for path in sorted(files, key=lambda path: path.stat().st_mtime_ns):
            try:
                kept = self.store.read(path)
                folder = kept["job"]["parameters"]["folder"]
                check_record(kept["record"], folder)
                inside(self.path, folder, path)
                own = {f"{folder}/{name}" for name in OF_A_SCENE}  # whatever else it claims is not its own
                mine = {name: sha256 for name, sha256 in kept["files"].items() if name in own}
                found.setdefault(folder, []).append({**kept, "files": mine, "key": path.stem})
            except (InputError, LookupError, TypeError, AttributeError):
                continue  # it is damaged: the scene's job will not find it either
        return found

    def remove_superseded(self, keys: dict[str, str]) -> None:
        """Remove what was kept for earlier inputs; `keys` has the key of the job of each folder that is done now."""
        for folder, kept in self.finished().items():
            if folder not in keys:
                continue
            files = {name for job in kept if job["key"] == keys[folder] for name in job["files"]}
            for job in kept:
                if job["key"] != keys[folder]:
                    for name in {*job["files"], f"{folder}/{REPORT}"} - files:  # also the page of a result that is gone
                        (self.path / name).unlink(missing_ok=True)
                    (self.store.folder / f"{job['key']}.json").unlink(missing_ok=True)  # last: it lists the others

    def _write_list(self, scenes: dict[str, str], failures: dict[str, str]) -> None:
        content = {"format": BATCH_FORMAT, "parameters": self.parameters, "scenes": scenes, "failures": failures}
        write_file(self.path / LIST, (to_json(content) + "\n").encode(), lasting=True)

    def _list(self) -> dict[str, Any] | None:
        path = self.path / LIST
        if not path.exists():
            return None
        try:
            kept = json.loads(read_bytes(path))
            parts = kept["parameters"], kept["scenes"], kept.get("failures", {})
            if kept["format"] != BATCH_FORMAT or not all(isinstance(part, dict) for part in parts):
                raise ValueError
            if not all(isinstance(text, str) for part in parts[1:] for text in part.values()):
                raise ValueError
        except (ValueError, LookupError, TypeError, RecursionError):
            raise InputError(path, "is not the list that `gradcon batch` writes", "choose another folder") from None
        for folder in {**kept["scenes"], **kept.get("failures", {})}:
            inside(self.path, folder, path)
        return dict(kept)

    def _refuse_foreign(self) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise InputError(self.path, "is a file", "give a folder to write into")
        there = {file.name for file in files_in(self.path)} if self.path.is_dir() else set()
        if JOBS in there and not any(file.suffix == ".json" for file in files_in(self.path / JOBS)):
            there.discard(JOBS)  # left by a batch that was killed before it began
        for name in sorted(there & {JOBS, TABLE, INDEX, RESULT, VIDEO_LIST, "results.json", "manifest.json"}):
            raise InputError(self.path, f"holds {name} of another run", "choose another folder")


def _holds_something(folder: Path) -> bool:
    return folder.is_dir() and bool(files_in(folder))


def _holds_foreign(folder: Path) -> bool:
    """Return whether a folder holds other files than a result, and no result, of which a killed run leaves a part."""
    others = [] if not folder.is_dir() else [path for path in files_in(folder) if path.name not in OF_A_SCENE]
    return any(not path.name.startswith(".") for path in others) and not holds_records(folder)


def _flat(parameters: dict[str, Any]) -> dict[str, Any]:
    """Put the options, the choices among them, and the hints beside the other parameters."""
    flat: dict[str, Any] = {}
    for name, value in parameters.items():
        is_group = name in ("options", "choices", "hints") and isinstance(value, dict)
        flat |= _flat(value) if is_group else {name: value}
    return flat


def _shown(value: Any) -> str:
    return "none" if value is None else json.dumps(value, ensure_ascii=False)
