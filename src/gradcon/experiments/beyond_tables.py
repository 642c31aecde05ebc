"""The tables and claims of the experiment `beyond`, from the records of its runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcon.experiments.datasets import KINDS
from gradcon.experiments.experiment import Claim, Column, Row, Table, mean
from gradcon.experiments.published import PUBLISHED, SCENES

NEW = "sweep"
PAPER = ("gcm", "coarse-to-fine")
NAMES = ("beyond-middlebury", "beyond-scenes", "beyond-ingredients", "beyond-published")
FLOW = ("dis", True)  # the tuned flow, which the new method should be as fast as
WORSE = 5  # percent: the most by which the RMSE of one scene may rise

MEASURES = {  # where a record holds each value
    "rmse": ("metrics", "rmse"),
    "rmse_inner": ("metrics", "rmse_inner"),
    "badpix_007": ("metrics", "badpix_007"),
    "badpix_003": ("metrics", "badpix_003"),
    "badpix_001": ("metrics", "badpix_001"),
    "q25": ("metrics", "q25"),
    "rmse_at_jumps": ("jumps", "rmse_at_jumps"),
    "rmse_elsewhere": ("jumps", "rmse_elsewhere"),
}
COLUMNS = [
    Column("label", "method", "s"),
    Column("rmse", "RMSE"),
    Column("rmse_inner", "RMSE, border left out"),
    Column("badpix_007", "BadPix 0.07 (%)", ".1f"),
    Column("badpix_003", "BadPix 0.03 (%)", ".1f"),
    Column("badpix_001", "BadPix 0.01 (%)", ".1f"),
    Column("q25", "Q25", ".2f"),
    Column("rmse_at_jumps", "RMSE within 5 px of a jump"),
    Column("rmse_elsewhere", "RMSE elsewhere"),
    Column("seconds", "seconds", ".2f"),
]


def with_scales(method: str) -> str:
    """Return the key of a method that runs with the six scales of the paper."""
    return f"{method}-six-scales"


def without(term: str) -> str:
    """Return the key of the sweep without an ingredient."""
    return f"{NEW}-without-{term}"


def peer(name: str, tuned: bool) -> str:
    """Return the key of another tool."""
    return f"peer-{name}-{'tuned' if tuned else 'defaults'}"


@dataclass(frozen=True)
class Scores:
    """What was measured on one dataset."""

    kind: str
    labels: dict[str, str]  # by method
    records: dict[str, dict[str, dict[str, Any]]]  # by scene and method

    def row(self, key: str) -> Row:
        """Return the means over all scenes that have a value."""
        records = {name: found[key] for name, found in self.records.items()}
        row: Row = {"label": self.labels[key]}
        for measure, (part, name) in MEASURES.items():
            values = [value for record in records.values() if (value := record[part][name]) is not None]
            row[measure] = mean(values) if values else None
        row["seconds"] = mean(record["seconds"] for record in records.values())
        row["scenes"] = {name: record["metrics"]["rmse"] for name, record in records.items()}
        return row

    def rows(self) -> dict[str, Row]:
        """Return the table of the methods; those without an ingredient have a table of their own."""
        return {key: self.row(key) for key in self.labels if not key.startswith(without(""))}

    @property
    def best_gcm(self) -> str:
        """The key of gcm with the settings that are best here."""
        return min((key for key in ("gcm", with_scales("gcm")) if key in self.labels), key=self._rmse)

    @property
    def best_peer(self) -> str | None:
        """The key of the best of the other tools, if they ran."""
        return min((key for key in self.labels if key.startswith("peer-")), key=self._rmse, default=None)

    @property
    def shown(self) -> list[str]:
        """The keys of the methods that are compared scene by scene."""
        return [key for key in (self.best_gcm, self.best_peer, NEW) if key is not None]

    def _rmse(self, key: str) -> float:
        return mean(found[key]["metrics"]["rmse"] for found in self.records.values())


def more_tables(scores: dict[str, Scores], ingredients: Mapping[str, str]) -> list[Table]:
    """Return all tables but the first; `ingredients` has a phrase for each term that can be left out."""
    found = [
        Table(NAMES[1], "RMSE by scene", _by_scene(scores), SCENE_COLUMNS),
        Table(NAMES[2], "Ingredients left out, one at a time", _ingredients(scores, ingredients), INGREDIENT_COLUMNS),
    ]
    if "middlebury" in scores:
        found.insert(0, Table(NAMES[0], KINDS["middlebury"].label, scores["middlebury"].rows(), COLUMNS))
    at_hand = [name for name in SCENES if name in scores["hci"].records]
    if at_hand:
        title = "Published figures: MSE x 100 by scene, border left out"
        found.append(Table(NAMES[3], title, _published(scores["hci"], at_hand), _published_columns(at_hand)))
    return found


SCENE_COLUMNS = [
    Column("label", "scene", "s"),
    Column("gcm", "gcm, best settings"),
    Column("peer", "best other tool"),
    Column("sweep", NEW),
    Column("change_percent", f"{NEW} against gcm (%)", "+.1f"),
]


def _by_scene(scores: dict[str, Scores]) -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for kind, its in scores.items():
        methods = {"gcm": its.best_gcm, "peer": its.best_peer, "sweep": NEW}
        by_method = {column: its.row(key) for column, key in methods.items() if key is not None}
        for name in its.records:
            rows[f"{kind}-{name}"] = _changed(name, {column: row["scenes"][name] for column, row in by_method.items()})
        means = {column: row["rmse"] for column, row in by_method.items()}
        rows[f"{kind}-mean"] = _changed(f"mean of {KINDS[kind].label}", means)
    return rows


def _changed(label: str, rmse: dict[str, float]) -> Row:
    return {"label": label, **rmse, "change_percent": _percent(rmse["sweep"], rmse["gcm"])}


def _percent(new: float, old: float) -> float | None:
    """Return by how much an error rises."""
    return 100 * (new / old - 1) if old else None


INGREDIENT_COLUMNS = [
    Column("label", "left out", "s"),
    Column("hci|rmse", "HCI: RMSE"),
    Column("hci|change_percent", "change (%)", "+.1f"),
    Column("hci|badpix_007", "BadPix 0.07 (%)", ".1f"),
    Column("hci|rmse_at_jumps", "RMSE within 5 px of a jump"),
    Column("hci|seconds", "seconds", ".2f"),
    Column("middlebury|rmse", "Middlebury: RMSE"),
    Column("middlebury|change_percent", "change (%)", "+.1f"),
    Column("middlebury|badpix_007", "BadPix 0.07 (%)", ".1f"),
    Column("middlebury|rmse_at_jumps", "RMSE within 5 px of a jump"),
]


def _ingredients(scores: dict[str, Scores], phrases: Mapping[str, str]) -> dict[str, Row]:
    labels = {NEW: "nothing", **{without(term): f"{term}: {phrase}" for term, phrase in phrases.items()}}
    rows: dict[str, Row] = {key: {"label": label} for key, label in labels.items()}
    for kind, its in scores.items():
        whole = its.row(NEW)["rmse"]
        for key, row in rows.items():
            found = its.row(key)
            row[kind] = {**found, "change_percent": None if key == NEW else _percent(found["rmse"], whole)}
    return rows


def _published_columns(scenes: list[str]) -> list[Column]:
    return [
        Column("label", "method", "s"),
        Column("how", "kind", "s"),
        *(Column(f"mse_100|{name}", name, ".3f") for name in scenes),
        Column("rmse", "mean RMSE", ".3f"),
        Column("badpix_007", "mean BadPix 0.07 (%)", ".2f"),
        Column("time", "seconds", "s"),
    ]


def _published(scores: Scores, scenes: list[str]) -> dict[str, Row]:
    """Return ours and the published figures for the benchmark's scenes at hand; the mean is over these scenes."""
    rows: dict[str, Row] = {}
    for key in (*PAPER, scores.best_peer, NEW):
        if key is not None:
            records = {name: scores.records[name][key] for name in scenes}
            rows[key] = _published_row(
                scores.labels[key],
                "no training, measured",
                {name: record["metrics"]["mse_100"] for name, record in records.items()},
                {name: record["metrics"]["badpix_007"] for name, record in records.items()},
                f"{mean(record['seconds'] for record in records.values()):.1f}",
            )
    for method in PUBLISHED:
        rows[method.label] = _published_row(
            method.label,
            f"{'network' if method.trained else 'no training'}, published",
            method.mse_of(scenes),
            method.badpix_of(scenes),
            f"{method.seconds:g}{' (GPU)' if method.on_gpu else ''}",
        )
    return rows


def _published_row(label: str, how: str, mse_100: dict[str, float], badpix: dict[str, float], time: str) -> Row:
    return {
        "label": label,
        "how": how,
        "mse_100": mse_100,
        "rmse": mean(np.sqrt(value / 100) for value in mse_100.values()),
        "badpix_007": mean(badpix.values()) if badpix else None,
        "time": time,
    }


def claims(scores: dict[str, Scores]) -> list[Claim]:
    """Compare the sweep with gcm and with the best of the other tools."""
    found = []
    for kind, its in scores.items():
        where = KINDS[kind].label
        rivals = [key for key in (its.best_gcm, its.best_peer) if key is not None]
        new = its.row(NEW)
        for rival in map(its.row, rivals):
            found.append(
                Claim(
                    f"(Not in the paper.) {where}: {NEW} has a lower RMSE and fewer bad pixels than {rival['label']}.",
                    new["rmse"] < rival["rmse"] and new["badpix_007"] < rival["badpix_007"],
                    f"RMSE {new['rmse']:.3f} against {rival['rmse']:.3f}; BadPix 0.07 {new['badpix_007']:.1f} % "
                    f"against {rival['badpix_007']:.1f} %; {new['seconds']:.1f} s against {rival['seconds']:.1f} s.",
                )
            )
        found.append(_no_scene_worse(its))
        if peer(*FLOW) in its.labels:
            flow = its.row(peer(*FLOW))
            found.append(
                Claim(
                    f"(Not in the paper.) {where}: {NEW} is no slower than {flow['label']}.",
                    new["seconds"] <= flow["seconds"],
                    f"{new['seconds']:.2f} s against {flow['seconds']:.2f} s.",
                )
            )
    return found


def _no_scene_worse(scores: Scores) -> Claim:
    gcm, new = scores.row(scores.best_gcm)["scenes"], scores.row(NEW)["scenes"]
    change = {name: risen for name in new if (risen := _percent(new[name], gcm[name])) is not None}
    worst = max(change, key=change.__getitem__, default=None)
    return Claim(
        f"(Not in the paper.) {KINDS[scores.kind].label}: on no scene is the RMSE of {NEW} more than {WORSE} % above "
        f"that of {scores.labels[scores.best_gcm]}.",
        None if worst is None else change[worst] <= WORSE,
        "" if worst is None else f"The largest change is {change[worst]:+.1f} %, on {worst}.",
    )
