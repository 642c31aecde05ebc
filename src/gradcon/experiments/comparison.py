"""Methods compared on a dataset, each with the alpha that cross-validation chooses for it.

The mean RMSE that stands beside the paper's is cross-validated, as the paper's is.  Curves, counts and statements use
one alpha for all scenes, the one that most folds chose: the fold that holds out a hard scene may choose quite another
one, and that scene would then decide how fast the mean converges.

Every table of the paper is such a comparison, in two forms: with gradcon's choices, and with everything done as the
paper prints it.  An experiment names its contenders and its questions; it gets its jobs from here, and its tables,
curves and claims from here once they are done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gradcon.experiments.changes import Change
from gradcon.experiments.counts import COUNT_COLUMNS, Need, Record, count
from gradcon.experiments.crossvalidation import Choice, choose, mean_curve, solves_within
from gradcon.experiments.datasets import Dataset, KnownScene
from gradcon.experiments.experiment import (
    VERDICTS,
    Claim,
    Column,
    Context,
    Experiment,
    Findings,
    Picture,
    Row,
    Setup,
    Table,
    above,
    mean,
)
from gradcon.experiments.methods import Contender
from gradcon.experiments.trial import fair, trial_job
from gradcon.jobs import Job, Outcomes
from gradcon.pictures import figures

Records = dict[tuple[str, str, float], Record]  # by scene, contender and alpha

NEAR = 0.02  # a method has practically arrived once its RMSE is within this share of the final one
ENOUGH = 0.5  # of the scenes, for a statement to be judged on the others alone

COLUMNS = [
    Column("label", "method", "s"),
    Column("cross_validated", "RMSE"),
    Column("paper", "paper"),
    Column("difference_percent", "difference (%)", "+.1f"),
    Column("printed|cross_validated", "as printed"),
    Column("alphas", "alpha of each fold", "list"),
    Column("printed|alphas", "as printed", "list"),
    Column("alpha", "one alpha", "g"),
    Column("rmse", "RMSE, one alpha"),
    Column("solves_within_2_percent", "solves to within 2 %", "d"),
    Column("rmse_after_40", "RMSE after 40"),
    *COUNT_COLUMNS,
]
OWN_COLUMNS = [column for column in COLUMNS if not column.path.startswith("printed|")]  # of one form
JUMP_COLUMNS = [
    Column("label", "method", "s"),
    Column("rmse", "RMSE"),
    Column("jumps|at_jumps", "within 5 px of a jump"),
    Column("jumps|elsewhere", "elsewhere"),
]


@dataclass(frozen=True)
class Comparison:
    """The contenders on every scene of a dataset, in one form."""

    dataset: Dataset
    contenders: Sequence[Contender]
    setup: Setup

    def as_printed(self) -> Comparison:
        return replace(self, contenders=[who.as_printed() for who in self.contenders])

    def alphas(self, who: Contender) -> tuple[float, ...]:
        """Return the alphas that cross-validation chooses from."""
        return self.setup.alphas or (who.alpha,)

    def jobs(self) -> list[Job]:
        """Return a job for each scene, contender and alpha."""
        return [
            self.job(scene, who, alpha)
            for scene in self.dataset.scenes
            for who in self.contenders
            for alpha in self.alphas(who)
        ]

    def job(
        self,
        scene: KnownScene,
        who: Contender,
        alpha: float,
        change: Change | None = None,
        keep: Sequence[int] = (),
        trust: bool = False,
    ) -> Job:
        """Return the job of one run; see `trial` for `change`, `keep` and `trust`."""
        choices = fair(who.options.choices, self.dataset.kind, self.setup)
        options = replace(who.options, alpha=alpha, solves=self.setup.solves, choices=choices)
        return trial_job(scene, self.dataset.kind.views, options, self.setup.engine, change, keep, trust)

    def judge(self, outcomes: Outcomes) -> Verdict:
        """Choose the alphas on the scenes for which every run is done."""
        wanted = [(who, alpha) for who in self.contenders for alpha in self.alphas(who)]
        records: Records = {
            (scene.name, who.key, alpha): outcome.record
            for scene in self.dataset.scenes
            for who, alpha in wanted
            if (outcome := outcomes[self.job(scene, who, alpha)]) is not None
        }
        # All methods must be compared on the same scenes.
        names = [s.name for s in self.dataset.scenes if all((s.name, who.key, a) in records for who, a in wanted)]
        folds = [fold for scenes in self.dataset.folds if (fold := [name for name in scenes if name in names])]
        choices = {
            who.key: choose(
                {a: {name: records[name, who.key, a]["rmse"][-1] for name in names} for a in self.alphas(who)}, folds
            )
            for who in self.contenders
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
        return {who.key: who.label for who in self.comparison.contenders}

    def on(self, names: Sequence[str]) -> Verdict:
        """Return the same for some of the scenes; the alphas stay those that were chosen on all of them."""
        return replace(self, complete=[name for name in self.complete if name in names])

    def chosen(self, key: str) -> dict[str, Record]:
        """Return a contender's run on each scene, with the alpha that most folds chose."""
        alpha = self.choices[key].usual
        return {name: self.records[name, key, alpha] for name in self.complete}

    def cross_validated(self, key: str) -> dict[str, float]:
        """Return a contender's final RMSE on each scene, with the alpha that the folds without the scene chose."""
        alphas = self.choices[key].of_scene
        return {name: self.records[name, key, alphas[name]]["rmse"][-1] for name in self.complete}

    def rows(self) -> dict[str, Row]:
        """Return the table, with a row for each contender."""
        return {who.key: self._row(who) for who in self.comparison.contenders}

    def rmse(self) -> dict[str, float]:
        """Return the mean final RMSE of each contender."""
        return {key: mean(record["rmse"][-1] for record in self.chosen(key).values()) for key in self.labels}

    def curves(self) -> dict[str, list[float]]:
        """Return the mean RMSE after each solve, for each contender."""
        return {key: mean_curve([record["rmse"] for record in self.chosen(key).values()]) for key in self.labels}

    def arrived(self) -> dict[str, int]:
        """Return the solve from which the mean RMSE stays near its final value, for each contender."""
        return {key: solves_within(curve, NEAR) for key, curve in self.curves().items()}

    def notes(self) -> list[str]:
        """Name the scenes that had to be left out, and the contenders for which the grid of alphas was too short."""
        absent = [scene.name for scene in self.comparison.dataset.scenes if scene.name not in self.complete]
        notes = (
            [f"These scenes are left out, because some of their jobs failed: {', '.join(absent)}."] if absent else []
        )
        grid = self.comparison.setup.alphas
        at_end = (
            [
                f"{label} ({alpha:g})"
                for key, label in self.labels.items()
                for alpha in (grid[0], grid[-1])
                if len(grid) > 1 and alpha in self.choices[key].alphas
            ]
            if grid
            else []
        )
        return [*notes, f"A fold chose the end of the grid of alphas for {', '.join(at_end)}."] if at_end else notes

    def _row(self, who: Contender) -> Row:
        choice, records = self.choices[who.key], self.chosen(who.key)
        curve = mean_curve([record["rmse"] for record in records.values()])
        scenes = {name: record["rmse"][-1] for name, record in records.items()}
        cross_validated = mean(self.cross_validated(who.key).values())
        return {
            "label": who.label,
            "cross_validated": cross_validated,
            "paper": who.paper,
            "difference_percent": above(cross_validated, who.paper) if who.paper else None,
            "alphas": choice.alphas,
            "alpha": choice.usual,
            "rmse": mean(scenes.values()),
            "scenes": scenes,
            "alpha_of_scene": choice.of_scene,
            "by_alpha": {
                f"{alpha:g}": mean(self.records[name, who.key, alpha]["rmse"][-1] for name in self.complete)
                for alpha in self.comparison.alphas(who)
            },
            "solves_within_2_percent": solves_within(curve, NEAR),
            "solves_within_2_percent_by_scene": {name: solves_within(r["rmse"], NEAR) for name, r in records.items()},
            "rmse_after_40": curve[min(40, len(curve)) - 1],
            "solves": {name: record["solves"] for name, record in records.items()},
            **count(records.values()),
            "jumps": {
                place: mean_known(record["jumps"][f"rmse_{place}"] for record in records.values())
                for place in ("at_jumps", "elsewhere")
            },
            "badpix_007": mean(record["metrics"]["badpix_007"] for record in records.values()),
            "seconds": mean(record["seconds"] for record in records.values()),
        }


def mean_known(values: Any) -> float | None:
    """Return the mean of the values that are not None."""
    known = [value for value in values if value is not None]
    return mean(known) if known else None


@dataclass(frozen=True)
class Question:
    """A statement of the paper, and how to judge it.

    Parameters
    ----------
    statement : str
        One of `STATEMENTS`.
    judge : callable
        Returns whether a verdict supports it, or None if it cannot tell, and what was measured.
    needs : mapping
        What the runs of some contenders must have done.  Scenes on which they did not are left out.
    scene : str, optional
        The scene that it is about, if it is about one.
    """

    statement: str
    judge: Callable[[Verdict], tuple[bool | None, str]]
    needs: Mapping[Need, Sequence[str]] = field(default_factory=dict)
    scene: str | None = None

    def claim(self, verdict: Verdict) -> Claim:
        """Judge the statement by the runs that did what it is about."""
        if self.scene is not None:
            verdict = verdict.on([name for name in verdict.complete if name.rsplit("/")[-1] == self.scene])
            if not verdict.complete:
                return Claim(self.statement, None, f"The scene {self.scene} is not among the scenes.")
        unmet = {need: self._unmet(need, verdict) for need in self.needs}
        fit = [name for name in verdict.complete if not any(name in names for names in unmet.values())]
        reasons = " and ".join(self._words(need, verdict) for need, names in unmet.items() if names)
        where = f"{len(fit)} of {len(verdict.complete)} scenes"
        if not fit or len(fit) < ENOUGH * len(verdict.complete):
            return Claim(self.statement, None, f"Only on {where} are there {reasons}.")
        supported, measured = self.judge(verdict.on(fit))
        return Claim(self.statement, supported, f"On the {where} with {reasons}: {measured}" if reasons else measured)

    def _unmet(self, need: Need, verdict: Verdict) -> set[str]:
        return {name for key in self.needs[need] for name, run in verdict.chosen(key).items() if not need.met(run)}

    def _words(self, need: Need, verdict: Verdict) -> str:
        return f"runs of {' and '.join(verdict.labels[key] for key in self.needs[need])} that {need.words}"


@dataclass(frozen=True)
class Forms:
    """A comparison with gradcon's choices, and as printed if that is done on the same scenes."""

    ours: Verdict
    printed: Verdict | None = None

    def rows(self) -> dict[str, Row]:
        """Return the rows of gradcon's choices, each with the row of the same contender as printed."""
        rows = self.ours.rows()
        for key, row in (self.printed.rows() if self.printed else {}).items():
            rows[key]["printed"] = row
        return rows

    def claims(self, questions: Sequence[Question]) -> list[Claim]:
        """Judge gradcon's choices, with the verdict on the printed form beside them."""
        found = []
        for question in questions:
            claim = question.claim(self.ours)
            if self.printed is not None:
                other = question.claim(self.printed)
                differs = other.supported != claim.supported
                measured = f"{claim.measured} As printed: {other.measured}" if differs else claim.measured
                claim = replace(claim, measured=measured, as_printed=VERDICTS[other.supported])
            found.append(claim)
        return found

    def findings(
        self, name: str, questions: Sequence[Question], caption: str = "", title: str = "", jumps: bool = False
    ) -> Findings:
        """Return everything there is to report; the figure and the table of `jumps` only if they are asked for."""
        rows = self.rows()
        by_scene = [Column(f"scenes|{scene}", scene) for scene in self.ours.complete]
        more = [
            Table(
                f"{name}-scenes",
                "RMSE by scene, with one alpha for all scenes",
                rows,
                [Column("label", "method", "s"), *by_scene, Column("rmse", "mean")],
            )
        ]
        if self.printed is not None:
            more.append(Table(f"{name}-as-printed", "As printed", self.printed.rows(), OWN_COLUMNS))
        if jumps:
            more.append(Table(f"{name}-jumps", "Beside jumps of the disparity", rows, JUMP_COLUMNS))
        notes = self.ours.notes()
        notes += [] if self.printed is None else [f"As printed: {note}" for note in self.printed.notes()]
        return Findings(
            rows=rows,
            columns=COLUMNS if self.printed is not None else OWN_COLUMNS,
            curves=self.ours.curves(),
            claims=self.claims(questions),
            pictures=[self._picture(name, caption, title)] if title else [],
            notes=notes,
            more_tables=more,
        )

    def _picture(self, name: str, caption: str, title: str) -> Picture:
        ours, printed = self.ours.curves(), self.printed.curves() if self.printed is not None else {}
        more = " Dashed: as printed." if printed else ""
        return Picture(name, caption + more, lambda: figures.convergence(ours, self.ours.labels, title, printed))


def comparison_experiment(
    title: str,
    paper: str,
    needs: str,
    compare: Callable[[Context], Comparison],
    describe: Callable[[Context, Forms], Findings],
    as_printed: bool = True,
    chooses_alpha: bool = True,
    pictures: tuple[str, ...] = (),
    more_tables: tuple[str, ...] = (),
) -> Experiment:
    """Make an experiment of a comparison; `describe` turns its verdicts, on at least one scene, into findings."""

    def jobs(context: Context) -> list[Job]:
        ours = compare(context)
        return ours.jobs() + (ours.as_printed().jobs() if as_printed else [])

    def conclude(context: Context, outcomes: Outcomes) -> Findings:
        ours = compare(context).judge(outcomes)
        printed = compare(context).as_printed().judge(outcomes) if as_printed else None
        if printed is not None and (both := [name for name in ours.complete if name in printed.complete]):
            return describe(context, Forms(ours.on(both), printed.on(both)))
        return describe(context, Forms(ours)) if ours.complete else Findings()

    return Experiment(
        title,
        paper,
        needs,
        jobs,
        conclude,
        pictures=pictures,
        more_tables=more_tables,
        chooses_alpha=chooses_alpha,
    )
