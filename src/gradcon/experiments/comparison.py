"""Methods compared on a dataset, each with the alpha that cross-validation chooses for it.

This is the mechanism of all tables of the paper: an experiment names its contenders, gets its jobs from here, and its
table and curves when they are done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradcon.experiments.changes import Change
from gradcon.experiments.crossvalidation import Choice, choose, mean_curve, solves_within
from gradcon.experiments.datasets import Dataset, KnownScene
from gradcon.experiments.trial import trial_job
from gradcon.jobs import Job, Outcomes
from gradcon.methods.options import Options

Records = dict[tuple[str, str, float], dict[str, Any]]  # by scene, contender and alpha

NEAR = 0.02  # within this share of its final RMSE a method has practically arrived


@dataclass(frozen=True)
class Contender:
    """A method with its settings, and what the paper reports for it."""

    key: str
    label: str
    options: Options
    paper: float | None = None  # RMSE


@dataclass(frozen=True)
class Setup:
    """How thoroughly to work."""

    engine: str
    alphas: tuple[float, ...]
    solves: int
    quick: bool


@dataclass(frozen=True)
class Comparison:
    """Contenders on a dataset."""

    dataset: Dataset
    contenders: Sequence[Contender]
    plan: Setup

    def jobs(self) -> list[Job]:
        """One for each scene, contender and alpha, scene by scene."""
        return [
            self.job(entry, contender, alpha)
            for entry in self.dataset.entries
            for contender in self.contenders
            for alpha in self.plan.alphas
        ]

    def job(
        self,
        entry: KnownScene,
        contender: Contender,
        alpha: float,
        change: Change | None = None,
        keep: Sequence[int] = (),
    ) -> Job:
        options = replace(contender.options, alpha=alpha, solves=self.plan.solves)
        return trial_job(entry, self.dataset.kind.views, options, self.plan.engine, change, keep)

    def judge(self, report: Outcomes) -> Verdict:
        """What came out."""
        records: Records = {
            (entry.name, contender.key, alpha): outcome.record
            for entry in self.dataset.entries
            for contender in self.contenders
            for alpha in self.plan.alphas
            if (outcome := report[self.job(entry, contender, alpha)]) is not None
        }
        # Methods are compared on the same scenes, or not at all.
        wanted = [(contender.key, alpha) for contender in self.contenders for alpha in self.plan.alphas]
        names = [e.name for e in self.dataset.entries if all((e.name, *which) in records for which in wanted)]
        folds = [fold for scenes in self.dataset.folds if (fold := [name for name in scenes if name in names])]
        choices = {
            contender.key: choose(
                {
                    alpha: {name: records[name, contender.key, alpha]["rmse"][-1] for name in names}
                    for alpha in self.plan.alphas
                },
                folds,
            )
            for contender in self.contenders
        }
        return Verdict(self, names, choices, records)


@dataclass(frozen=True)
class Verdict:
    """The finished runs of a comparison, and the alphas they choose."""

    comparison: Comparison
    scenes: list[str]  # of which every run is done
    choices: dict[str, Choice]  # by contender
    records: Records

    def chosen(self, contender: Contender) -> dict[str, dict[str, Any]]:
        """By scene: the contender's run with the alpha chosen for it."""
        alphas = self.choices[contender.key].of_scene
        return {name: self.records[name, contender.key, alphas[name]] for name in self.scenes}

    def rows(self) -> dict[str, dict[str, Any]]:
        """The table: a row for each contender; none if no scene is complete."""
        return {contender.key: self._row(contender) for contender in self.comparison.contenders if self.scenes}

    def curves(self) -> dict[str, list[float]]:
        """Mean RMSE after each solve."""
        return {c.key: self._curve(c) for c in self.comparison.contenders if self.scenes}

    def notes(self) -> list[str]:
        """Which scenes had to be left out, if any."""
        absent = [entry.name for entry in self.comparison.dataset.entries if entry.name not in self.scenes]
        return [f"Without {', '.join(absent)}: not all of their jobs could be done."] if absent else []

    def _curve(self, contender: Contender) -> list[float]:
        return mean_curve([record["rmse"] for record in self.chosen(contender).values()])

    def _row(self, contender: Contender) -> dict[str, Any]:
        choice, records, curve = self.choices[contender.key], self.chosen(contender), self._curve(contender)
        scenes = {name: record["rmse"][-1] for name, record in records.items()}
        rmse = float(np.mean(list(scenes.values())))
        return {
            "label": contender.label,
            "rmse": rmse,
            "paper": contender.paper,
            "difference_percent": 100 * (rmse / contender.paper - 1) if contender.paper else None,
            "alphas": choice.alphas,
            "scenes": scenes,
            "alpha_of_scene": choice.of_scene,
            "by_alpha": {
                f"{alpha:g}": float(np.mean([self.records[n, contender.key, alpha]["rmse"][-1] for n in self.scenes]))
                for alpha in self.comparison.plan.alphas
            },
            "solves_within_2_percent": solves_within(curve, NEAR),
            "solves_within_2_percent_by_scene": {name: solves_within(r["rmse"], NEAR) for name, r in records.items()},
            "rmse_after_40": curve[min(40, len(curve)) - 1],
            "solves": {name: record["solves"] for name, record in records.items()},
            "badpix_007": float(np.mean([record["metrics"]["badpix_007"] for record in records.values()])),
            "seconds": float(np.mean([record["seconds"] for record in records.values()])),
        }
