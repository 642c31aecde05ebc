"""Which views and scales the GCM trusts beside jumps of the disparity: the paper's explanations of its results."""

from __future__ import annotations

from typing import Any

from gradcon.experiments.comparison import Comparison, Verdict, mean_known
from gradcon.experiments.datasets import KnownScene
from gradcon.experiments.experiment import Claim, Column, Context, Experiment, Findings, Row
from gradcon.experiments.methods import GCM, GCM_ONE_SCALE, NO_GRADIENT, NO_SCALE, Contender
from gradcon.jobs import Job, Outcomes

CONTENDERS = (GCM_ONE_SCALE, GCM, NO_SCALE, NO_GRADIENT)
QUICK_SCENES = 4
EARLY = 5  # a solve while the disparity still changes much
SHARES = ("nearest", "finest", "coarsest")
MORE, MUCH_LESS = 1.05, 0.5  # times the share


def comparison(context: Context) -> Comparison:
    return Comparison(context.datasets["hci"], CONTENDERS, context.setup)


def follow_up(context: Context, outcomes: Outcomes) -> list[Job]:
    """Return the runs with the chosen alphas, once more, with the trust recorded."""
    verdict = comparison(context).judge(outcomes)
    return [job for scene in _scenes(context, verdict) for job in _jobs(verdict, scene).values()]


def conclude(context: Context, outcomes: Outcomes) -> Findings:
    verdict = comparison(context).judge(outcomes)
    found: dict[str, dict[str, dict[str, Any]]] = {}  # the trust by scene and contender, of complete scenes
    for scene in _scenes(context, verdict):
        done = {key: outcomes[job] for key, job in _jobs(verdict, scene).items()}
        records = {key: outcome.record["trust"] for key, outcome in done.items() if outcome is not None}
        if len(records) == len(done):
            found[scene.name] = records
    if not found:
        return Findings()
    rows = {who.key: _row(who, {name: trust[who.key] for name, trust in found.items()}) for who in CONTENDERS}
    return Findings(
        rows=rows,
        columns=[
            Column("label", "method", "s"),
            *(
                Column(f"{when}|{place}|{share}", f"{heading} {words}", ".3f")
                for share, heading in (
                    ("nearest", "nearest views"),
                    ("finest", "finest scale"),
                    ("coarsest", "coarsest scale"),
                )
                for when, place, words in (
                    ("end", "beside", "beside jumps"),
                    ("end", "elsewhere", "elsewhere"),
                    ("early", "everywhere", f"after {EARLY} solves"),
                )
                if (share, when) != ("nearest", "early")
            ),
        ],
        claims=[inner_views(rows, found), fine_data(rows), coarse_data(rows)],
        notes=[
            "The shares of all weights that the nearest views, the finest and the coarsest scale have, as means over "
            f"pixels and over these scenes: {', '.join(found)}. Beside jumps is within 5 pixels of one.",
        ],
    )


def inner_views(rows: dict[str, Row], found: dict[str, dict[str, dict[str, Any]]]) -> Claim:
    beside, elsewhere = (rows[GCM_ONE_SCALE.key]["end"][place]["nearest"] for place in ("beside", "elsewhere"))
    if beside is None or elsewhere is None:
        return Claim("inner-views", None, "There are no jumps.")
    both = [
        (trust["beside"]["nearest"][-1], trust["elsewhere"]["nearest"][-1])
        for trust in (each[GCM_ONE_SCALE.key] for each in found.values())
        if trust["beside"] is not None and trust["elsewhere"] is not None
    ]
    three = rows[GCM.key]["end"]
    return Claim(
        "inner-views",
        beside > MORE * elsewhere,
        f"The nearest views have {beside:.2f} of the weight beside jumps and {elsewhere:.2f} elsewhere; more beside "
        f"jumps on {sum(near > far for near, far in both)} of {len(both)} scenes. At three scales it is "
        f"{three['beside']['nearest']:.2f} and {three['elsewhere']['nearest']:.2f}.",
    )


def fine_data(rows: dict[str, Row]) -> Claim:
    """Judge by the weight that is left for coarse data while the disparity still changes much."""
    without, gcm = (1 - rows[who.key]["early"]["everywhere"]["finest"] for who in (NO_GRADIENT, GCM))
    return Claim(
        "no-gradient-fine",
        without < MUCH_LESS * gcm,
        f"After {EARLY} solves all coarser scales than the finest have {100 * without:.2f} % of the weight (GCM: "
        f"{100 * gcm:.2f} %).",
    )


def coarse_data(rows: dict[str, Row]) -> Claim:
    without, gcm = (rows[who.key]["end"]["beside"] for who in (NO_SCALE, GCM))
    if without["coarsest"] is None:
        return Claim("no-scale-coarse", None, "There are no jumps.")
    return Claim(
        "no-scale-coarse",
        without["coarsest"] > MORE * gcm["coarsest"] and without["finest"] < gcm["finest"],
        f"Beside jumps the coarsest scale has {without['coarsest']:.2f} of the weight at the end (GCM: "
        f"{gcm['coarsest']:.2f}) and the finest {without['finest']:.2f} (GCM: {gcm['finest']:.2f}).",
    )


def _row(who: Contender, trust: dict[str, dict[str, Any]]) -> Row:
    """Return the mean shares over the scenes, at the end and early; a scene without jumps counts only elsewhere."""

    def over_scenes(place: str, share: str, early: bool) -> float | None:
        return mean_known(_share(each, place, share, early) for each in trust.values())

    return {
        "label": who.label,
        "end": {
            place: {share: over_scenes(place, share, early=False) for share in SHARES}
            for place in ("beside", "elsewhere")
        },
        "early": {"everywhere": {share: over_scenes("everywhere", share, early=True) for share in SHARES}},
        "scenes": trust,
    }


def _share(trust: dict[str, Any], place: str, share: str, early: bool) -> float | None:
    """Return a share in the last recorded solve, or in the last one up to `EARLY`."""
    if trust[place] is None:
        return None
    solves = [n for n in trust["solves"] if n <= EARLY] if early else trust["solves"]
    return float(trust[place][share][len(solves) - 1])


def _scenes(context: Context, verdict: Verdict) -> list[KnownScene]:
    dataset = context.datasets["hci"]
    wanted = dataset.spread(QUICK_SCENES) if context.setup.quick else dataset.scenes
    return [scene for scene in wanted if scene.name in verdict.complete]


def _jobs(verdict: Verdict, scene: KnownScene) -> dict[str, Job]:
    return {
        who.key: verdict.comparison.job(scene, who, verdict.choices[who.key].of_scene[scene.name], trust=True)
        for who in CONTENDERS
    }


EXPERIMENT = Experiment(
    "What is trusted beside jumps",
    "the explanations in Single Scale Results and Multi-Scale Results",
    "hci",
    jobs=lambda context: comparison(context).jobs(),  # they choose the alphas
    conclude=conclude,
    follow_up=follow_up,
)
