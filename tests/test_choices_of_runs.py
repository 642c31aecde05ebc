"""The choices about the paper that concern the course of a run, and the paper's form of everything in one word."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from gradcon import Choices, InputError, Options, Scene, estimate, synth, write_report
from gradcon.cli import main
from gradcon.engines import PRINTED
from gradcon.engines.choices import VALUES
from gradcon.methods.found_settings import found
from gradcon.methods.loop import minimise
from gradcon.methods.schedules import RECIPES, build, course_of
from gradcon.result.stopped import StopReason

CROSS = np.array([(s * k * (a == 0), s * k * (a == 1)) for k in (1, 2, 3, 4) for a in (0, 1) for s in (1, -1)], float)


def test_every_choice_has_a_default_and_the_printed_value():
    by_default = asdict(Choices())
    assert {name for name in by_default if by_default[name] != asdict(PRINTED)[name]} == {
        *VALUES,
        "stage_solves",
    } - {"widths"}  # the paper prints one width, and gradcon takes it
    for name, (usual, other) in VALUES.items():
        assert getattr(Choices(), name) in (usual, None)
        assert getattr(replace(Choices(), **{name: other}), name) == other


def test_numpys_numbers_are_taken_as_plain_ones():
    choices = Choices(stage_solves=np.int64(100), step_limit=np.float32(2))
    assert choices == Choices(stage_solves=100, step_limit=2.0)
    assert json.dumps(choices.differing()) == '{"stage_solves": 100, "step_limit": 2.0}'


def test_a_wrong_choice_is_refused_in_a_sentence_that_names_the_values():
    with pytest.raises(InputError, match=r"^unseen: 'copied' is not one of uncoupled, coupled; choose one of these\.$"):
        Choices(unseen="copied")
    for wrong in (
        {"unseen": np.array(["coupled"])},
        {"stage_solves": -1},
        {"stage_solves": 2.5},
        {"step_limit": 0},
        {"step_limit": float("nan")},
    ):
        with pytest.raises(InputError, match=f"^{next(iter(wrong))}: "):
            Choices(**wrong)
    with pytest.raises(InputError, match=r"^choices: .* are not Choices"):
        Options("gcm", choices="printed")
    with pytest.raises(InputError, match=r"^choices: 'seen' is none of them; use scale_term, unseen"):
        Options("gcm", choices={"seen": "coupled"})
    with pytest.raises(InputError, match=r"^choices: the method sweep has no such parameter"):
        Options(choices=PRINTED)


def test_stages_have_the_alpha_and_the_limit_that_are_chosen():
    same = Choices(alpha_scales="same", alpha_views="same", step_limit=2.0)
    assert [stage.alpha for stage in build("gcm", CROSS[:4], 0.5, 6, choices=same)] == [0.5] * 4
    assert [stage.limit for stage in build("coarse-to-fine", CROSS, 0.5, choices=same)] == [2.0, 1.0, 0.5]
    assert [stage.alpha for stage in build("progressive", CROSS, 0.5, choices=same)] == [0.5] * 4
    assert [stage.alpha for stage in build("progressive", CROSS, 0.5)] == [0.125, 0.25, 0.375, 0.5]


def test_the_whole_model_stops_when_it_has_settled_and_the_baselines_take_all_solves():
    scene = synth.render("planes", (40, 40), grid=5)
    for method in RECIPES:
        run = minimise(scene, Options(method, solves=60), engine="cpu")
        assert (len(run.history) < 60) == (method == "gcm")
    assert len(minimise(scene, Options("gcm", solves=60, without="gradient"), engine="cpu").history) == 60
    all_solves = Options("gcm", solves=60, choices=Choices(run_end="solves"))
    run = minimise(scene, all_solves, engine="cpu")
    assert len(run.history) == 60
    assert run.stopped.reason is StopReason.CONVERGED  # it had settled before
    for solves in (61, 68):  # looks fall on the last solve
        cut = minimise(scene, Options("gcm", solves=solves, choices=Choices(run_end="solves")), engine="cpu")
        assert cut.stopped.reason is StopReason.CONVERGED
    settled = Options("naive", solves=60, choices=Choices(run_end="converged"))
    assert len(minimise(scene, settled, engine="cpu").history) < 60


def test_progressive_inclusion_takes_in_all_views():
    """With a tiny limit some pixel always meets it, so no stage ends by itself."""
    views = np.random.default_rng(2).random((17, 24, 24))
    scene, tiny = Scene(views[0], views[1:], CROSS), Choices(step_limit=1e-6)
    stuck = minimise(scene, Options("progressive", solves=20, choices=replace(tiny, stage_solves=0)), engine="cpu")
    assert {row.views for row in stuck.history} == {5}
    assert stuck.stopped.reason is StopReason.OUT_OF_SOLVES_EARLY
    whole = minimise(scene, Options("progressive", solves=20, choices=tiny), engine="cpu")
    assert [row.views for row in whole.history] == 5 * [5] + 5 * [9] + 5 * [13] + 5 * [17]


def test_a_stage_ends_as_it_is_chosen():
    options = Options("coarse-to-fine", solves=9, choices=Choices(stage_solves=3))
    assert course_of(options, 3).stage_solves == 3
    scene = synth.render("occlusion", (48, 48), grid=5)
    scales = [row.scales for row in minimise(scene, options, engine="cpu").history]
    assert max(scales.count(one) for one in ((2,), (1,))) <= 3
    strict = minimise(scene, Options("coarse-to-fine", solves=60, choices=Choices(stage_end="none")), engine="cpu")
    for row, following in zip(strict.history, strict.history[1:], strict=False):
        assert (row.stage != following.stage) == (row.clipped == 0 and row.stage < 2)


def test_the_printed_form_sets_everything_that_is_not_given():
    for method, recipe in RECIPES.items():
        options = Options.printed(method)
        assert options.choices == PRINTED
        assert (options.epsilon, options.scales, options.gains) == (2e-4, recipe.scales, False)
        assert found(options, 20.0, 40.0, 0.1, 1.0) == (options, 0.0)
    assert Options.printed("gcm", gains=True, use_inspection=True).gains
    own = Options.printed("gcm", scales=6, epsilon=1e-3, choices=replace(PRINTED, unseen="uncoupled"))
    assert (own.scales, own.epsilon, own.choices.unseen, own.choices.sectors) == (6, 1e-3, "uncoupled", "closed")
    with pytest.raises(InputError, match=r"^method: the paper has no method sweep; use one of gcm, naive"):
        Options.printed("sweep")


def test_options_come_back_from_a_record():
    options = Options.printed("naive", alpha=0.2)
    assert Options(**json.loads(json.dumps(asdict(options)))) == options
    assert options.parameters()["choices"] == PRINTED.differing()
    assert Options("gcm").parameters()["choices"] == {}


@pytest.mark.filterwarnings("ignore:scene. target 3 disagrees")
def test_the_printed_form_leaves_no_view_out_and_starts_at_zero():
    scene = synth.render("planes", (96, 96), grid=5)
    targets = scene.targets.copy()
    targets[3] = np.random.default_rng(0).random(targets[3].shape)
    odd = Scene(scene.reference, 0.8 * targets, scene.baselines)
    usual = estimate(odd, Options("gcm", solves=1), engine="cpu")
    assert usual.findings.left_out
    assert usual.findings.compensated
    printed = estimate(odd, Options.printed("gcm", solves=1), engine="reference")
    assert printed.findings.odd_views
    assert not printed.findings.left_out
    assert not printed.findings.compensated
    assert any("not left out" in text for text in printed.warnings)
    assert printed.history[0].views == 1 + len(odd.targets)
    assert printed.parameters["initial"] == 0.0


def test_the_page_says_which_choices_differ(tmp_path):
    scene = synth.render("planes", (32, 32), grid=3)
    for name, choices in (("a", Choices()), ("b", Choices(sectors="closed")), ("c", PRINTED)):
        estimate(scene, Options("gcm", solves=1, choices=choices), engine="reference").save(tmp_path / name)
    write_report([tmp_path / name for name in "abc"], tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    for text in ("choices", "sectors=closed", "scale_term=every, unseen=coupled"):
        assert text in page


def test_the_command_does_everything_as_printed(tmp_path, capsys):
    scene = synth.write("planes", tmp_path / "scene", (32, 32), views=9)
    line = ["estimate", str(scene), "--solves", "2", "--engine", "reference"]

    def parameters(*more):
        assert main([*line, "--out", str(tmp_path / "out"), *more]) == 0
        return json.loads((tmp_path / "out" / "result.json").read_text())["parameters"]

    printed = parameters("--paper")
    assert "choices     scale_term=every, unseen=coupled, sectors=closed, " in capsys.readouterr().out
    assert (printed["method"], printed["choices"], printed["epsilon"]) == ("gcm", PRINTED.differing(), 2e-4)
    own = parameters("--paper", "--method", "naive", "--choice", "unseen=uncoupled", "--choice", "step-limit=0.5")
    assert own["method"] == "naive"
    assert own["choices"] == replace(PRINTED, unseen="uncoupled", step_limit=0.5).differing()
    capsys.readouterr()
    assert parameters("--method", "gcm", "--choice", "sectors=closed")["choices"] == {"sectors": "closed"}
    assert "choices     sectors=closed\n" in capsys.readouterr().out
    for wrong, said in (
        ("unseen", "choice: 'unseen' is not NAME=VALUE"),
        ("seen=coupled", "choice: 'seen=coupled' names none of the choices; use one of scale_term, unseen"),
        ("unseen=copied", "unseen: 'copied' is not one of uncoupled, coupled"),
        ("stage_solves=many", "choice: 'many' is no value of stage_solves; give a number"),
    ):
        assert main([*line, "--method", "gcm", "--out", str(tmp_path / "out"), "--choice", wrong]) == 2
        assert said in capsys.readouterr().err
