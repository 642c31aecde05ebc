"""Disturbed views: noise, compression, differences in brightness, and cameras that are not where they should be.

The sweep, gcm and the best of the other tools run on every scene with every disturbance, with nothing set by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from gradcon.experiments import changes
from gradcon.experiments.changes import Change
from gradcon.experiments.datasets import KINDS, KnownScene
from gradcon.experiments.experiment import Claim, Column, Context, Experiment, Findings, Row, Table, listing, mean
from gradcon.experiments.peer_methods import TUNED_ON, missing_libraries
from gradcon.experiments.timed import Entrant, timed_job
from gradcon.jobs import Job, Outcomes
from gradcon.methods.options import Options

QUICK_SCENES = 1  # of each dataset
NAME = "disturbed"
CLEAN = "clean"
SWEEP, GCM, FLOW = "sweep", "gcm", "flow"
HARMLESS = 1.05  # times the RMSE on clean views


@dataclass(frozen=True)
class Disturbance:
    """What is done to the views, and whether the methods that can align views are told to."""

    label: str
    change: Callable[[str], Change] | None = None  # the scene's name seeds its random numbers
    align: bool = False
    quick: bool = False  # whether a quick run has it

    def change_of(self, scene: KnownScene) -> Change | None:
        return None if self.change is None else self.change(scene.last_name)


def _random(change: Callable[[float, str], Change], amount: float) -> Callable[[str], Change]:
    return lambda name: change(amount, f"{name} {amount:g}")


def _always(change: Callable[[Any], Change], amount: float) -> Callable[[str], Change]:
    return lambda name: change(amount)


SHIFTED, TURNED = _random(changes.shifts, 1.0), _random(changes.turns, 0.8)
DISTURBANCES = {
    CLEAN: Disturbance("none", quick=True),
    "noise-5": Disturbance("noise of 5 of 255", _random(changes.noise, 5)),
    "noise-15": Disturbance("noise of 15", _random(changes.noise, 15), quick=True),
    "noise-30": Disturbance("noise of 30", _random(changes.noise, 30)),
    "jpeg-90": Disturbance("JPEG, quality 90", _always(changes.jpeg, 90)),
    "jpeg-50": Disturbance("JPEG, quality 50", _always(changes.jpeg, 50), quick=True),
    "jpeg-20": Disturbance("JPEG, quality 20", _always(changes.jpeg, 20)),
    "gains-5": Disturbance("gains of up to 5 %", _random(changes.gains, 0.05)),
    "gains-15": Disturbance("gains of up to 15 %", _random(changes.gains, 0.15)),
    "gains-30": Disturbance("gains of up to 30 %", _random(changes.gains, 0.3), quick=True),
    "vignetting": Disturbance("vignetting of 10 %", _always(changes.vignetting, 0.1), quick=True),
    "shifts": Disturbance("shifts of up to 1 px", SHIFTED),
    "shifts-aligned": Disturbance("shifts of up to 1 px, align", SHIFTED, align=True, quick=True),
    "turns": Disturbance("turns of up to 0.8 degrees", TURNED),
    "turns-aligned": Disturbance("turns of up to 0.8 degrees, align", TURNED, align=True),
    "baselines": Disturbance("noise of 2 % on the baselines", _random(changes.baseline_noise, 0.02), quick=True),
}
BRIGHTNESS = ("gains-5", "gains-15", "gains-30", "vignetting")


@dataclass(frozen=True)
class Plan:
    """The runs on one dataset."""

    kind: str
    scenes: list[KnownScene]
    disturbances: dict[str, Disturbance]
    context: Context

    def jobs(self, scene: KnownScene) -> dict[tuple[str, str], Job]:
        """Return the jobs of a scene, by disturbance and method."""
        job = partial(timed_job, scene, KINDS[self.kind].views, engine=self.context.setup.engine)
        return {
            (key, method): job(entrant=entrant, change=disturbance.change_of(scene))
            for key, disturbance in self.disturbances.items()
            for method, entrant in _entrants(disturbance.align, self.context.setup.solves).items()
        }

    def rows(self, outcomes: Outcomes) -> dict[str, Row]:
        """Summarise the scenes all of whose jobs are done, disturbance by disturbance."""
        complete = {}
        for scene in self.scenes:
            done = {run: outcomes[job] for run, job in self.jobs(scene).items()}
            found = {run: outcome.record["metrics"] for run, outcome in done.items() if outcome is not None}
            if len(found) == len(done):
                complete[scene.name] = found
        rows: dict[str, Row] = {}
        for key, method in self.jobs(self.scenes[0]) if complete else ():
            metrics = {name: found[key, method] for name, found in complete.items()}
            rows.setdefault(key, {"label": self.disturbances[key].label})[method] = {
                "rmse": mean(each["rmse"] for each in metrics.values()),
                "badpix_007": mean(each["badpix_007"] for each in metrics.values()),
                "scenes": {name: each["rmse"] for name, each in metrics.items()},
            }
        return rows


def jobs(context: Context) -> list[Job]:
    return [job for plan in _plans(context) for scene in plan.scenes for job in plan.jobs(scene).values()]


def conclude(context: Context, outcomes: Outcomes) -> Findings:
    found = {plan.kind: rows for plan in _plans(context) if (rows := plan.rows(outcomes))}
    if "hci" not in found:
        return Findings()
    return Findings(
        rows=found["hci"],
        columns=_columns(),
        more_tables=[
            Table(f"{NAME}-{kind}", KINDS[kind].label, rows, _columns())
            for kind, rows in found.items()
            if kind != "hci"
        ],
        claims=_claims(found["hci"]),
        notes=_notes(found),
    )


def _plans(context: Context) -> list[Plan]:
    quick = context.setup.quick
    disturbances = {key: each for key, each in DISTURBANCES.items() if each.quick or not quick}
    return [
        Plan(kind, dataset.spread(QUICK_SCENES) if quick else dataset.scenes, disturbances, context)
        for kind, dataset in context.datasets.items()
    ]


def _entrants(align: bool, solves: int) -> dict[str, Entrant]:
    suffix = ", align" if align else ""
    found = {
        SWEEP: Entrant(SWEEP + suffix, Options(SWEEP, align=align)),
        GCM: Entrant(GCM + suffix, Options(GCM, align=align, solves=solves)),
    }
    if missing_libraries() is None and not align:  # the flow has no such option
        found[FLOW] = Entrant("DIS flow, tuned", peer="dis", tuned=True)
    return found


def _columns() -> list[Column]:
    methods = {SWEEP: SWEEP, GCM: GCM} | ({FLOW: "DIS flow, tuned"} if missing_libraries() is None else {})
    return [
        Column("label", "disturbance", "s"),
        *(Column(f"{method}|rmse", f"{label}: RMSE") for method, label in methods.items()),
        *(Column(f"{method}|badpix_007", f"{label}: BadPix 0.07 (%)", ".1f") for method, label in methods.items()),
    ]


def _claims(rows: dict[str, Row]) -> list[Claim]:
    clean = rows[CLEAN][SWEEP]["rmse"]
    brightness = {row["label"]: row[SWEEP]["rmse"] for key, row in rows.items() if key in BRIGHTNESS}
    claims = [
        Claim(
            "(Not in the paper.) Differences in brightness raise the RMSE of the sweep by at most 5 %.",
            max(brightness.values()) <= HARMLESS * clean,
            listing({label: f"{100 * (rmse / clean - 1):+.1f} %" for label, rmse in brightness.items()}),
        )
    ]
    beside = {row["label"]: (row[SWEEP]["rmse"], row[FLOW]["rmse"]) for row in rows.values() if FLOW in row}
    if beside:
        lost = {label: f"{ours:.3f}, flow {flow:.3f}" for label, (ours, flow) in beside.items() if ours >= flow}
        claims.append(
            Claim(
                "(Not in the paper.) The sweep is more accurate than tuned optical flow, whatever the disturbance.",
                not lost,
                f"It is on {len(beside) - len(lost)} of {len(beside)}." + (f" {listing(lost)}" if lost else ""),
            )
        )
    return claims


def _notes(found: dict[str, dict[str, Row]]) -> list[str]:
    notes = [
        f"{KINDS[kind].label}: the values are means over these scenes: {', '.join(rows[CLEAN][SWEEP]['scenes'])}."
        for kind, rows in found.items()
    ]
    notes.append(
        "The views are in colour and have 8 bits. Noise is Gaussian and independent in each channel. Each camera, the "
        "reference's too, has its own gain, and what is brighter than white is lost. Vignetting is the same in all "
        "views. Only the targets are shifted and turned, because the truth belongs to the reference. Nothing is set, "
        "except `align` where it is named."
    )
    missing = missing_libraries()
    if missing is not None:
        return [*notes, f"The optical flow is left out: {missing.problem}; {missing.remedy}."]
    return [*notes, f"The settings of the flow were chosen on clean scenes of the benchmark ({', '.join(TUNED_ON)})."]


EXPERIMENT = Experiment(
    "Disturbed views",
    "not part of it; this shows what noise, compression, brightness and misplaced cameras cost",
    "hci",
    jobs,
    conclude,
    also_uses=("middlebury",),
    more_tables=(f"{NAME}-middlebury",),
)
