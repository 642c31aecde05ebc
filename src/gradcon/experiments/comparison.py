"""Methods compared on a dataset, each with the alpha that cross-validation chooses for it.

Every table of the paper is such a comparison: an experiment names its contenders, gets its jobs from here, and gets its
table and curves from here once they are done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gradcon.experiments.changes import Change
from gradcon.experiments.crossvalidation import Choice, choose, mean_curve, solves_within
from gradcon.experiments.datasets import Dataset, KnownScene
from gradcon.experiments.experiment import Context, Experiment, Findings, Picture, Row, Setup, mean
from gradcon.experiments.trial import trial_job
from gradcon.jobs import Job, Outcomes
from gradcon.methods.options import Options
from gradcon.pictures import figures

Records = dict[tuple[str, str, float], dict[str, Any]]  # by scene, contender and alpha

NEAR = 0.02  # a method has practically arrived once its RMSE is within this share of the final one


@dataclass(frozen=True)
class Contender:
    """A method with its settings, and the RMSE that the paper reports for it."""

    key: str
    label: str
    options: Options
    paper: float | None = None


@dataclass(frozen=True)
class Comparison:
    """The contenders on every scene of a dataset."""

    dataset: Dataset
    contenders: Sequence[Contender]
    setup: Setup

    def jobs(self) -> list[Job]:
        """Return a job for each scene, contender and alpha, scene by scene."""
        return [
            self.job(scene, contender, alpha)
            for scene in self.dataset.scenes
            for contender in self.contenders
            for alpha in self.setup.alphas
        ]

    def job(
        self,
        scene: KnownScene,
        contender: Contender,
        alpha: float,
        change: Change | None = None,
        keep: Sequence[int] = (),
    ) -> Job:
        """Return the job of one run; see `trial` for `change` and `keep`."""
        options = replace(contender.options, alpha=alpha, solves=self.setup.solves)
        return trial_job(scene, self.dataset.kind.views, options, self.setup.engine, change, keep)

    def judge(self, outcomes: Outcomes) -> Verdict:
        """Choose the alphas on the scenes for which every run is done."""
        records: Records = {
            (scene.name, contender.key, alpha): outcome.record
            for scene in self.dataset.scenes
            for contender in self.contenders
            for alpha in self.setup.alphas
            if (outcome := outcomes[self.job(scene, contender, alpha)]) is not None
        }
        # All methods must be compared on the same scenes.
        wanted = [(contender.key, alpha) for contender in self.contenders for alpha in self.setup.alphas]
        names = [s.name for s in self.dataset.scenes if all((s.name, *which) in records for which in wanted)]
        folds = [fold for scenes in self.dataset.folds if (fold := [name for name in scenes if name in names])]
        choices = {
            contender.key: choose(
                {
                    alpha: {name: records[name, contender.key, alpha]["rmse"][-1] for name in names}
                    for alpha in self.setup.alphas
                },
                folds,
            )
            for contender in self.contenders
        }
        return Verdict(self, names, choices, records)


@dataclass(frozen=True)
class Verdict:
    """The finished runs of a comparison, and the alphas chosen from them."""

    comparison: Comparison
    complete: list[str]  # the names of the scenes for which every run is done
    choices: dict[str, Choice]  # by contender
    records: Records

    @property
    def labels(self) -> dict[str, str]:
        """The label of each contender."""
        return {contender.key: contender.label for contender in self.comparison.contenders}

    def chosen(self, contender: Contender) -> dict[str, dict[str, Any]]:
        """Return, for each scene, the contender's run with the alpha chosen for it."""
        alphas = self.choices[contender.key].of_scene
        return {name: self.records[name, contender.key, alphas[name]] for name in self.complete}

    def rows(self) -> dict[str, Row]:
        """Return the table, with a row for each contender."""
        return {contender.key: self._row(contender) for contender in self.comparison.contenders}

    def curves(self) -> dict[str, list[float]]:
        """Return the mean RMSE after each solve, for each contender."""
        return {contender.key: self._curve(contender) for contender in self.comparison.contenders}

    def convergence(self, name: str, caption: str, title: str) -> Picture:
        """Plot the curves."""
        return Picture(name, caption, lambda: figures.convergence(self.curves(), self.labels, title))

    def notes(self) -> list[str]:
        """Name the scenes that had to be left out, if any."""
        absent = [scene.name for scene in self.comparison.dataset.scenes if scene.name not in self.complete]
        return [f"These scenes are left out, because some of their jobs failed: {', '.join(absent)}."] if absent else []

    def _curve(self, contender: Contender) -> list[float]:
        return mean_curve([record["rmse"] for record in self.chosen(contender).values()])

    def _row(self, contender: Contender) -> Row:
        choice, records, curve = self.choices[contender.key], self.chosen(contender), self._curve(contender)
        scenes = {name: record["rmse"][-1] for name, record in records.items()}
        rmse = mean(scenes.values())
        return {
            "label": contender.label,
            "rmse": rmse,
            "paper": contender.paper,
            "difference_percent": 100 * (rmse / contender.paper - 1) if contender.paper else None,
            "alphas": choice.alphas,
            "scenes": scenes,
            "alpha_of_scene": choice.of_scene,
            "by_alpha": {
                f"{alpha:g}": mean(self.records[name, contender.key, alpha]["rmse"][-1] for name in self.complete)
                for alpha in self.comparison.setup.alphas
            },
            "solves_within_2_percent": solves_within(curve, NEAR),
            "solves_within_2_percent_by_scene": {name: solves_within(r["rmse"], NEAR) for name, r in records.items()},
            "rmse_after_40": curve[min(40, len(curve)) - 1],
            "solves": {name: record["solves"] for name, record in records.items()},
            "badpix_007": mean(record["metrics"]["badpix_007"] for record in records.values()),
            "seconds": mean(record["seconds"] for record in records.values()),
        }


def comparison_experiment(
    title: str,
    paper: str,
    needs: str,
    compare: Callable[[Context], Comparison],
    describe: Callable[[Context, Verdict], Findings],
    pictures: tuple[str, ...] = (),
) -> Experiment:
    """Make an experiment of a comparison; `describe` turns its verdict, on at least one scene, into findings."""

    def conclude(context: Context, outcomes: Outcomes) -> Findings:
        verdict = compare(context).judge(outcomes)
        return describe(context, verdict) if verdict.complete else Findings()

    return Experiment(
        title,
        paper,
        needs,
        jobs=lambda context: compare(context).jobs(),
        conclude=conclude,
        pictures=pictures,
    )
