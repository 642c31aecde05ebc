"""Beyond the paper: the plane sweep against the paper's methods, other tools and published figures.

Every method runs on every scene of both datasets, with nothing set by hand.  The sweep also runs without each of its
ingredients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradcon.experiments import beyond_tables as tables
from gradcon.experiments.beyond_tables import NEW, PAPER, Scores
from gradcon.experiments.datasets import KINDS, KnownScene
from gradcon.experiments.experiment import Context, Experiment, Findings, Picture
from gradcon.experiments.middlebury import SCALES
from gradcon.experiments.peer_methods import TUNED_ON, missing_libraries
from gradcon.experiments.peers import how_it_was_timed, peer_entrants
from gradcon.experiments.timed import Entrant, timed_job
from gradcon.io import open_scene
from gradcon.jobs import Job, Outcomes
from gradcon.methods.options import Options
from gradcon.methods.registry import METHODS
from gradcon.pictures.error_maps import Example, error_maps

QUICK_SCENES = 2  # of each dataset
SHOWN = {"hci": ("antinous", "backgammon", "cotton", "pens"), "middlebury": ("Aloe", "Midd1")}
ERROR_SHOWN = {"hci": 0.3, "middlebury": 1.2}  # pixels per unit baseline; the ranges differ by about this factor


@dataclass(frozen=True)
class Plan:
    """The runs on one dataset."""

    kind: str
    views: str
    scenes: list[KnownScene]
    entrants: dict[str, Entrant]
    engine: str

    @property
    def shown(self) -> list[KnownScene]:
        """The scenes whose error maps are shown."""
        known = {scene.last_name: scene for scene in self.scenes}
        wanted = [known[name] for name in SHOWN[self.kind] if name in known]
        return wanted or self.scenes[: len(SHOWN[self.kind])]

    def job(self, scene: KnownScene, key: str) -> Job:
        """Return the job of one run; it keeps the disparity of a scene that is shown."""
        return timed_job(scene, self.views, self.entrants[key], self.engine, keep=scene in self.shown)

    def scores(self, outcomes: Outcomes) -> Scores:
        """Collect the outcomes on the scenes for which every run is done."""
        records: dict[str, dict[str, dict[str, Any]]] = {}
        for scene in self.scenes:
            done = {key: outcomes[self.job(scene, key)] for key in self.entrants}
            found = {key: outcome.record for key, outcome in done.items() if outcome is not None}
            if len(found) == len(done):
                records[scene.name] = found
        return Scores(self.kind, {key: entrant.label for key, entrant in self.entrants.items()}, records)


def jobs(context: Context) -> list[Job]:
    return [plan.job(scene, key) for plan in _plans(context) for scene in plan.scenes for key in plan.entrants]


def conclude(context: Context, outcomes: Outcomes) -> Findings:
    plans = _plans(context)
    scores = {plan.kind: found for plan in plans if (found := plan.scores(outcomes)).records}
    if "hci" not in scores:
        return Findings()
    return Findings(
        rows=scores["hci"].rows(),
        columns=tables.COLUMNS,
        more_tables=tables.more_tables(scores, METHODS[NEW].terms),
        claims=tables.claims(scores),
        pictures=[_picture(plan, scores[plan.kind], outcomes) for plan in plans if plan.kind in scores],
        notes=_notes(plans, scores),
    )


def _plans(context: Context) -> list[Plan]:
    """Return the runs on each dataset that is given."""
    setup = context.setup
    return [
        Plan(
            kind,
            dataset.kind.views,
            dataset.spread(QUICK_SCENES) if setup.quick else dataset.scenes,
            _entrants(kind, setup.solves),
            setup.engine,
        )
        for kind, dataset in context.datasets.items()
    ]


def _entrants(kind: str, solves: int) -> dict[str, Entrant]:
    """Return the paper's methods, the sweep with all and with all but one of its ingredients, and the other tools."""
    found = {method: Entrant(method, Options(method, solves=solves).as_in_the_paper()) for method in PAPER}
    if kind == "middlebury":  # as in the paper's evaluation
        found |= {
            tables.with_scales(method): Entrant(
                f"{method}, six scales", Options(method, scales=SCALES, solves=solves).as_in_the_paper()
            )
            for method in PAPER
        }
    found[NEW] = Entrant(NEW, Options(NEW))
    found |= {
        tables.without(term): Entrant(f"{NEW} without {term}", Options(NEW, without=term))
        for term in METHODS[NEW].terms
    }
    if missing_libraries() is None:
        found |= {tables.peer(*settings): entrant for settings, entrant in peer_entrants().items()}
    return found


def _picture(plan: Plan, scores: Scores, outcomes: Outcomes) -> Picture:
    """Show the error maps of gcm, the best of the other tools and the sweep."""
    scenes = [scene for scene in plan.shown if scene.name in scores.records]

    def maps(scene: KnownScene) -> dict[str, NDArray[np.float32]]:
        done = {key: outcomes[plan.job(scene, key)] for key in scores.shown}
        return {
            scores.labels[key]: outcome.arrays["disparity"].astype(np.float32)
            for key, outcome in done.items()
            if outcome is not None
        }

    def example(scene: KnownScene) -> Example:
        opened = open_scene(scene.folder, views=2)
        assert opened.ground_truth is not None
        return Example(scene.name, opened.colour, opened.ground_truth, maps(scene))

    most = ERROR_SHOWN[plan.kind]
    return Picture(
        f"beyond-{plan.kind}-errors",
        f"{KINDS[plan.kind].label}: the reference view, its true disparity, and absolute errors from 0 (black) to "
        f"{most:g} pixels per unit baseline or more (bright); grey where the truth is unknown.",
        lambda: error_maps([example(scene) for scene in scenes], most),
    )


def _notes(plans: list[Plan], scores: dict[str, Scores]) -> list[str]:
    notes = []
    for plan in plans:
        used = scores[plan.kind].records if plan.kind in scores else {}
        sizes = sorted({scene.size for scene in plan.scenes if scene.name in used})
        views = " and ".join(map(str, sorted({scene.views for scene in plan.scenes if scene.name in used})))
        if used:
            methods = [scores[plan.kind].labels[key] for key in scores[plan.kind].shown]
            notes.append(
                f"{KINDS[plan.kind].label}: means over {', '.join(used)}; {views} views of "
                f"{', '.join(f'{width} x {height}' for width, height in sizes)} pixels. By scene and in the "
                f"pictures: {'; '.join(methods)}."
            )
        absent = [scene.name for scene in plan.scenes if scene.name not in used]
        if absent:
            notes.append(f"These scenes are left out, because some of their jobs failed: {', '.join(absent)}.")
    notes.append(
        "The published figures are those of the benchmark and of the methods' authors. The benchmark scored "
        "backgammon, dots and stripes at ten times the resolution, so these are only roughly comparable. "
        "The seconds are from the authors' machines."
    )
    missing = missing_libraries()
    if missing is not None:
        return [*notes, f"The other tools are left out: {missing.problem}; {missing.remedy}."]
    return [
        *notes,
        f"The other tools run with settings chosen on scenes of the benchmark ({', '.join(TUNED_ON)}), and with their "
        "defaults. The paper's methods run with the paper's settings, or with six scales where that is said. Nothing "
        "is set for the sweep.",
        *how_it_was_timed(),
    ]


EXPERIMENT = Experiment(
    "Beyond the paper",
    "not part of it; this compares the plane sweep with the paper's methods, other tools and published figures",
    "hci",
    jobs,
    conclude,
    also_uses=("middlebury",),
    pictures=tuple(f"beyond-{kind}-errors" for kind in SHOWN),
    more_tables=tables.NAMES,
)
