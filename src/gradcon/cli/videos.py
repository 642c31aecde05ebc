"""Estimate a light-field video for `gradcon estimate`: a folder of results for each frame, written when it is done.

Each frame starts from the disparity of the one before it.  video.json lists the finished frames and is rewritten after
each of them, so that a run that is stopped leaves complete frames and a correct list.
"""

from __future__ import annotations

import json as json_module
import re
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gradcon import estimate_many
from gradcon.cli.app import as_json, refuse_unwritable, say
from gradcon.cli.footage import Footage
from gradcon.cli.messages import warn
from gradcon.damage import inside
from gradcon.errors import InputError
from gradcon.files import read_text, write_file
from gradcon.io import Frames
from gradcon.io.outputs import SUMMARY, refuse_foreign_folder, remove_result
from gradcon.io.outputs import VIDEO_LIST as LIST
from gradcon.methods.options import Options
from gradcon.progress import Display, counted
from gradcon.result import Result
from gradcon.scene import Scene

MAX_LIST_BYTES = 2**28  # a row takes about 300 bytes
_FRAME = re.compile(r"frame_[0-9]{4,9}")
_SLICE = re.compile(r"(-?[0-9]{1,9})?(:(-?[0-9]{1,9})?)?")
Save = Callable[[Result, Path], Any]


def choose_frames(told: str | None, found: Frames, path: Path) -> range:
    """Return the frames that `--frames START:STOP` selects, as a slice in Python does; one number selects one frame."""
    count = len(found)
    if told is None:
        return range(count)
    if not found.is_video:
        raise InputError("frames", f"{path} is not a video, so {told!r} has no meaning", "leave --frames out")
    match = _SLICE.fullmatch(told)
    if match is None or not told:
        raise InputError("frames", f"{told!r} is neither a frame nor START:STOP", "give frames such as 10:20")
    start, stop = (int(match[k]) if match[k] else None for k in (1, 3))
    if start is not None and match[2] is None:
        stop = start + 1 or None  # -1 is the last frame, and its stop is the end
    chosen = range(count)[start:stop]
    if not chosen:
        problem = f"{told!r} selects none of the {count} frames of {path}"
        raise InputError("frames", problem, "count them from 0")
    return chosen


def estimate_video(
    found: Frames,
    chosen: range,
    out: Path,
    options: Options,
    *,
    prepare: Callable[[Scene], Scene],
    save: Save,
    initial: Any = None,
    engine: str = "auto",
    json: bool = False,
) -> None:
    """Estimate the chosen frames and print a summary.

    `prepare` may change or refuse each scene before it is estimated, `save` writes a result into a folder, and the
    first frame starts from `initial`.
    """
    digits = max(4, len(str(len(found) - 1)))
    folders = [f"frame_{k:0{digits}d}" for k in chosen]
    refuse_unwritable(out, [LIST])
    if (out / SUMMARY).exists():
        raise InputError(out, "holds the result of a still", "choose another folder for the results of a video")
    refuse_foreign_folder(out, found.listing.source, own=folders)
    for folder in folders:
        if (out / folder).exists():
            refuse_unwritable(out / folder)
            refuse_foreign_folder(out / folder)

    footage = Footage(found)
    content: dict[int, str | None] = {}
    given: dict[str, Any] = {}  # the views, also those that are left out of a frame because they are odd

    def scenes() -> Iterator[Scene]:
        for k in chosen:
            scene = prepare(found[k])
            scene.name = f"{scene.name}, frame {k}"
            given.update(views=len(scene.colours), targets=scene.target_names, baselines=scene.baselines.tolist())
            content[k] = footage.fingerprint(k, [scene.reference_name, *scene.target_names])
            yield scene

    name = found.listing.name or found.listing.source.resolve().name
    rows: list[dict[str, Any]] = []
    earlier: list[dict[str, Any]] = []
    story: dict[str, Any] = {"format": "gradcon-video-1", "warnings": []}
    begun = time.perf_counter()
    with warnings.catch_warnings(), _display(len(chosen), name) as show:
        warnings.simplefilter("ignore")  # result.warnings holds them, and they are shown below
        results = estimate_many(scenes(), options, initial="previous", first=initial, engine=engine)
        for k, folder, result in zip(chosen, folders, results, strict=True):
            story["source"] = {**result.source, **given, "name": name, "frames": len(found)}
            story["parameters"] = options.parameters()
            if not rows:
                earlier = _earlier(out, story, footage)
            save(result, out / folder)
            rows.append({**_row(k, folder, result), "content": content[k]})
            known = {row["frame"]: row for row in [*earlier, *rows]}  # new rows replace earlier ones
            story["frames"] = [known[frame] for frame in sorted(known)]
            story["warnings"] += result.warnings
            story |= {"engine": result.engine, "engine_note": result.engine_note}
            story["seconds"] = time.perf_counter() - begun
            write_file(out / LIST, (as_json(story) + "\n").encode())
            show(rows[-1])
            warn(result.warnings)
    say(as_json(story) if json else _describe(story, rows, out))


def refuse_video_folder(out: Path) -> None:
    """Refuse to put the result of a still among those of a video."""
    if (out / LIST).exists():
        raise InputError(out, "holds the results of a video", "choose another folder for the result of a still")


def _earlier(out: Path, story: dict[str, Any], footage: Footage) -> list[dict[str, Any]]:
    """Return the rows of an earlier run on the same video with the same parameters, and remove all other results.

    A frame whose files have changed since then belongs to another video, even if its name is the same.
    """
    try:
        told = json_module.loads(read_text(out / LIST, MAX_LIST_BYTES))
        listed = [row for row in told["frames"] if _is_row(row) and inside(out, row["folder"], out / LIST)]
    except (ValueError, LookupError, TypeError, RecursionError):
        return []
    now = json_module.loads(as_json(story))
    alike = all(told.get(key) == now[key] for key in ("source", "parameters"))
    views = [now["source"]["reference"], *now["source"]["targets"]]
    kept = []
    for row in listed:
        contents = {row.get("content"), footage.fingerprint(row["frame"], views)}
        if alike and len(contents - {None}) < 2:  # an unknown fingerprint counts as the same
            kept.append(row)
        else:
            remove_result(out / row["folder"])
    return [row for row in kept if (out / row["folder"] / SUMMARY).is_file()]


def _is_row(row: Any) -> bool:
    """Return whether a row names the folder of a frame, as the rows of `_row` do."""
    named = _FRAME.fullmatch(str(row["folder"])) and isinstance(row["frame"], int)
    return bool(named) and isinstance(row.get("content"), str | None)


def _row(frame: int, folder: str, result: Result) -> dict[str, Any]:
    return {
        "frame": frame,
        "folder": folder,
        "initial": result.parameters["initial"],
        "solves": len(result.history),
        "kind": result.history[-1].kind,
        "seconds": result.seconds["total"],
        "rmse": result.metrics["rmse"] if result.metrics else None,
        "stopped": str(result.stopped),
    }


def _describe(story: dict[str, Any], rows: list[dict[str, Any]], out: Path) -> str:
    """Summarise the run, for people."""
    source = story["source"]
    first, last = rows[0], rows[-1]
    note = f" ({story['engine_note']})" if story["engine_note"] else ""
    effort = counted(sum(row["solves"] for row in rows), first["kind"])
    lines = [
        ("video", f"{source['name']}: {source['views']} views of {source['width']} x {source['height']}, "
                  f"reference {source['reference']}"),
        ("frames", f"{len(rows)} of {source['frames']}: {first['frame']}"
                   + (f" to {last['frame']}" if len(rows) > 1 else "")),
        ("engine", f"{story['engine']}{note}, {effort} in {story['seconds']:.2f} s "
                   f"({first['solves']} of them for the first frame)"),
        ("written", f"{out}: {LIST}, {first['folder']}" + (f" to {last['folder']}" if len(rows) > 1 else "")),
    ]  # fmt: skip
    if all(row["rmse"] is not None for row in rows):
        mean = sum(row["rmse"] for row in rows) / len(rows)
        lines.insert(2, ("accuracy", f"RMSE {mean:.4f} on average, {last['rmse']:.4f} in the last frame"))
    return "\n".join(f"{name:11} {text}" for name, text in lines)


@contextmanager
def _display(count: int, name: str) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Yield a function to call with each finished frame."""
    opening = f"{count} frame{'s' * (count > 1)} to estimate"
    with Display(name, count, opening=opening, note="starting") as display:
        done = 0

        def show(row: dict[str, Any]) -> None:
            nonlocal done
            done += 1
            rmse = f", RMSE {row['rmse']:.4f}" if row["rmse"] is not None else ""
            text = f"frame {row['frame']}: {counted(row['solves'], row['kind'])} in {row['seconds']:.2f} s{rmse}"
            display.show(done, text, text)

        yield show
