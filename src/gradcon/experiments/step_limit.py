"""What the limit M of a step does: the paper's remarks on M, and on why progressive inclusion is faster at first.

M is the limit for the nearest view divided by the length of the farthest one in use.  A factor of 4 therefore gives
methods that use all views of the paper's cross at once the M with which progressive inclusion begins, and a factor of
1/4 lets progressive inclusion begin with theirs.
"""

from __future__ import annotations

from dataclasses import replace

from gradcon.experiments.comparison import OWN_COLUMNS, Comparison, Forms, Question, Verdict, comparison_experiment
from gradcon.experiments.counts import ENDED
from gradcon.experiments.experiment import Column, Context, Findings, above, listing
from gradcon.experiments.methods import COARSE_TO_FINE, GCM, GCM_ONE_SCALE, NAIVE, PROGRESSIVE, Contender

FARTHEST = 4.0  # times the length of the nearest view: the paper's cross
FACTORS = (
    (NAIVE, (1.0, FARTHEST)),
    (GCM_ONE_SCALE, (1.0, FARTHEST)),
    (PROGRESSIVE, (1.0, 1 / FARTHEST)),
    (COARSE_TO_FINE, (1.0, 0.5, 2.0)),
    (GCM, (1.0, 0.5, 2.0)),
)
QUICK_SCENES = 2
EARLY = (5, 10)  # solves
LESS_ACCURATE = 1.005  # times the RMSE
SLOWER = 1.1  # times the solves


def limited(who: Contender, factor: float) -> Contender:
    """Return a contender whose steps are limited by this times the paper's M."""
    choices = replace(who.options.choices, step_limit=factor)
    label = who.label if factor == 1 else f"{who.label} with {factor:g} M"
    return replace(who, key=_key(who, factor), label=label, options=replace(who.options, choices=choices))


def comparison(context: Context) -> Comparison:
    """Compare the methods with the alphas that are usual for them, without cross-validation."""
    dataset, setup = context.datasets["hci"], context.setup
    contenders = [limited(who, factor) for who, factors in FACTORS for factor in factors]
    scenes = dataset.spread(QUICK_SCENES) if setup.quick else dataset.scenes
    return Comparison(replace(dataset, scenes=scenes), contenders, replace(setup, alphas=()))


def describe(context: Context, forms: Forms) -> Findings:
    found = forms.findings("step-limit", QUESTIONS)
    for key, curve in found.curves.items():
        found.rows[key]["after"] = {str(n): curve[min(n, len(curve)) - 1] for n in EARLY}
    early = [Column("alpha", "alpha", "g"), *(Column(f"after|{n}", f"RMSE after {n}") for n in EARLY)]
    left_out = ("cross_validated", "paper", "difference_percent", "alphas", "alpha", "rmse_after_40")
    columns = [column for column in OWN_COLUMNS if column.path not in left_out]
    return replace(found, columns=[columns[0], *early, *columns[1:]], curves={}, more_tables=[])


def early_by_limit(verdict: Verdict) -> tuple[bool, str]:
    """Judge whether most of the lead of progressive inclusion goes with its limit."""
    early = {key: curve[EARLY[0] - 1] for key, curve in verdict.curves().items()}
    ahead, slowed = early[_key(PROGRESSIVE, 1.0)], early[_key(PROGRESSIVE, 1 / FARTHEST)]
    explained, texts = [], {}
    for who in (NAIVE, GCM_ONE_SCALE):
        behind, freed = early[_key(who, 1.0)], early[_key(who, FARTHEST)]
        lead = behind - ahead
        explained.append(lead > 0 and slowed - ahead > 0.5 * lead)
        texts[who.label] = f"{behind:.3f}, with progressive inclusion's M {freed:.3f}"
    texts[PROGRESSIVE.label] = f"{ahead:.3f}, with the others' M {slowed:.3f}"
    return all(explained), f"RMSE after {EARLY[0]} solves: {listing(texts)}"


def larger_limit(verdict: Verdict) -> tuple[bool, str]:
    one, two = (verdict.rmse()[_key(COARSE_TO_FINE, factor)] for factor in (1.0, 2.0))
    text = f"RMSE is {one:.4f}, and {two:.4f} with twice the limit ({above(two, one):+.1f} %)."
    return two > LESS_ACCURATE * one, text


def smaller_limit(verdict: Verdict) -> tuple[bool, str]:
    one, half = (verdict.arrived()[_key(COARSE_TO_FINE, factor)] for factor in (1.0, 0.5))
    text = f"It comes within 2 % of its final RMSE after {one} solves, and after {half} with half the limit."
    return half > SLOWER * one, text


def _key(who: Contender, factor: float) -> str:
    return f"{who.key}-{factor:g}"


QUESTIONS = [
    Question("early-by-limit", early_by_limit),
    Question("larger-limit", larger_limit),
    Question("smaller-limit", smaller_limit, {ENDED: (_key(COARSE_TO_FINE, 1.0), _key(COARSE_TO_FINE, 0.5))}),
]

EXPERIMENT = comparison_experiment(
    "The limit of a step",
    "the remarks on the limit M in Single Scale Results and Multi-Scale Results",
    "hci",
    comparison,
    describe,
    as_printed=False,
    chooses_alpha=False,
)
