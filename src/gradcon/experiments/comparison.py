"""Methods compared on a dataset, each with the alpha that cross-validation chooses for it.

This is the mechanism of all tables of the paper: an experiment names its contenders, gets its jobs from here, and its
table and curves when they are done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradcon.estimate import Options
from gradcon.experiments.crossvalidation import Choice, choose, mean_curve, solves_within
from gradcon.experiments.datasets import Dataset, Entry
from gradcon.experiments.trial import trial_job
from gradcon.jobs import Job, Report

NEAR = 0.02  # within this share of its final RMSE a method has practically arrived


@dataclass(frozen=True)
class Contender:
    """A method with its settings, and what the paper reports for it."""

    key: str
    label: str
    options: Options
    paper: float | None = None  # RMSE


@dataclass(frozen=True)
class Plan:
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
    plan: Plan

    def jobs(self) -> list[Job]:
        """One for each scene, contender and alpha, scene by scene."""
        return [
            self.job(entry, contender, alpha)
            for entry in self.dataset.entries
            for contender in self.contenders
            for alpha in self.plan.alphas
        ]

    def job(self, entry: Entry, contender: Contender, alpha: float) -> Job:
        options = replace(contender.options, alpha=alpha, solves=self.plan.solves)
        return trial_job(entry, self.dataset.kind.views, options, self.plan.engine)

    def complete(self, report: Report) -> list[Entry]:
        """The scenes of which every job is done: methods are compared on the same scenes, or not at all."""
        return [
            entry
            for entry in self.dataset.entries
            if all(report[self.job(entry, c, alpha)] for c in self.contenders for alpha in self.plan.alphas)
        ]

    def choice(self, report: Report, contender: Contender) -> Choice:
        """The alphas chosen for a contender."""
        there = {entry.name: entry for entry in self.complete(report)}
        folds = [fold for names in self.dataset.folds if (fold := [name for name in names if name in there])]
        final = {
            alpha: {name: self._record(report, there[name], contender, alpha)["rmse"][-1] for name in there}
            for alpha in self.plan.alphas
        }
        return choose(final, folds)

    def rows(self, report: Report) -> dict[str, dict[str, Any]]:
        """The table: a row for each contender, nothing if no scene is complete."""
        entries = self.complete(report)
        return {contender.key: self._row(report, contender, entries) for contender in self.contenders if entries}

    def curves(self, report: Report) -> dict[str, list[float]]:
        """Mean RMSE after each solve, at the chosen alphas."""
        found = {}
        for contender in self.contenders:
            chosen = self.choice(report, contender).of_scene
            entries = [entry for entry in self.dataset.entries if entry.name in chosen]
            if entries:
                runs = [self._record(report, entry, contender, chosen[entry.name])["rmse"] for entry in entries]
                found[contender.key] = mean_curve(runs)
        return found

    def _row(self, report: Report, contender: Contender, entries: list[Entry]) -> dict[str, Any]:
        choice = self.choice(report, contender)
        records = {e.name: self._record(report, e, contender, choice.of_scene[e.name]) for e in entries}
        scenes = {name: record["rmse"][-1] for name, record in records.items()}
        curve = mean_curve([record["rmse"] for record in records.values()])
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
                f"{alpha:g}": float(np.mean([self._record(report, e, contender, alpha)["rmse"][-1] for e in entries]))
                for alpha in self.plan.alphas
            },
            "solves_within_2_percent": solves_within(curve, NEAR),
            "rmse_after_40": curve[min(40, len(curve)) - 1],
            "solves": {name: record["solves"] for name, record in records.items()},
            "badpix_007": float(np.mean([record["metrics"]["badpix_007"] for record in records.values()])),
            "seconds": float(np.mean([record["seconds"] for record in records.values()])),
        }

    def _record(self, report: Report, entry: Entry, contender: Contender, alpha: float) -> dict[str, Any]:
        outcome = report[self.job(entry, contender, alpha)]
        assert outcome is not None
        return outcome.record
