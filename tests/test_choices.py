"""Compiled engines make each of the choices about the paper as `reference` does, alone and all together."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine_cases import (
    COMPILED,
    SCENES,
    blank_scene,
    data_term,
    make,
    random_areas,
    random_scene,
    random_system,
    solve,
    some_disparity,
)
from gradcon import Options, Scene, synth
from gradcon.engines import BY_DEFAULT, PRINTED, Choices, DataTerm, Stage
from gradcon.engines.choices import VALUES
from gradcon.engines.cpu import layout
from gradcon.engines.cpu import solver as cpu_solver
from gradcon.engines.cpu.engine import CpuEngine
from gradcon.engines.cpu.threads import Threads
from gradcon.engines.cuda import solver as cuda_solver
from gradcon.methods.loop import minimise
from gradcon.methods.options import PAPER_EPSILON
from gradcon.methods.schedules import build

OF_A_STEP = ("scale_term", "unseen", "sectors", "smoothness", "smoothness_weight", "filters", "widths")
ALONE = {name: Choices(**{name: VALUES[name][1]}) for name in OF_A_STEP}
CHOICES = {**ALONE, "composed gaussians": Choices(filters="gaussians", widths="composed"), "printed": PRINTED}

GRID = [(x, y) for y in range(-2, 3) for x in range(-2, 3) if (x, y) != (0, 0)]
CHOSEN_SCENES = {
    "cross": random_scene(baselines=((1, 0), (-1, 0), (0, 1), (0, -1), (2, 0), (0, -3))),
    "grid": random_scene((21, 26), GRID),  # views on the borders of sectors, and between them
    "smaller than the filters": SCENES["smaller than the filters"],
    "rotated cameras": SCENES["rotated cameras"],
    "wider than a tile": SCENES["wider than a tile"],
    "areas not seen": random_scene((27, 32), ((1, 0), (0, 1), (1, -1)), seen=random_areas(4, (27, 32))),
}

compiled = pytest.mark.parametrize("name", COMPILED)
every_choice = pytest.mark.parametrize("choices", CHOICES.values(), ids=CHOICES.keys())
every_scene = pytest.mark.parametrize("scene", CHOSEN_SCENES.values(), ids=CHOSEN_SCENES.keys())


def stages_of(scene: Scene, scales: int, choices: Choices) -> list[Stage]:
    return build("gcm", scene.baselines, 0.5, scales, choices=choices)


@cache
def expected_term(scene: Scene, choices: Choices, stage: Stage, reweight: bool) -> DataTerm[Any]:
    return data_term(make("reference", choices)(scene), some_disparity(scene, size=2.0), stage, reweight, sample=3)


@pytest.fixture
def exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Solve linear systems so far that what is left does not show."""
    for solver in (cpu_solver, cuda_solver):
        monkeypatch.setattr(solver, "INNER_TOLERANCE", 1e-5)


@pytest.mark.parametrize("choices", [ALONE["unseen"], PRINTED], ids=["unseen", "printed"])
@every_scene
@compiled
def test_warp_agrees(name: str, scene: Scene, choices: Choices) -> None:
    """What a view does not see is a copy of the reference, whatever its coupling is."""
    (stage,) = stages_of(scene, 1, choices)
    w = some_disparity(scene, size=3.0)
    expected, got = (
        engine.warped_images(engine.upload(w), stage)
        for engine in (make("reference", choices)(scene), make(name, choices)(scene))
    )
    assert got == pytest.approx(expected, abs=2e-5)


@pytest.mark.parametrize("scales", [1, 3, 5])
@every_scene
@every_choice
@compiled
def test_data_term_and_weights_agree(name: str, choices: Choices, scene: Scene, scales: int) -> None:
    engine = make(name, choices)(scene)
    for stage in stages_of(scene, scales, choices):  # more than three scales are a sliding window
        expected = expected_term(scene, choices, stage, True)
        got = data_term(engine, some_disparity(scene, size=2.0), stage, True, sample=3)
        for a, b in zip(got[:2], expected[:2], strict=True):
            assert np.abs(a - b).max() <= (2e-4 if name == "cpu" else 1e-3) * np.abs(b).max()
            assert np.abs(a - b).mean() <= (1e-4 if name == "cpu" else 2e-4) * np.abs(b).mean() + 1e-12
        assert got.weights == pytest.approx(expected.weights, rel=5e-3)


@pytest.mark.parametrize(
    ("method", "scales", "without"), [("gcm", 3, "scale"), ("gcm", 3, "gradient"), ("naive", 2, None)]
)
@every_scene
@compiled
def test_data_term_agrees_without_some_weights(
    name: str, scene: Scene, method: str, scales: int, without: str | None
) -> None:
    (stage,) = build(method, scene.baselines, 0.5, scales, without, PRINTED)
    expected = expected_term(scene, PRINTED, stage, False)
    got = data_term(make(name, PRINTED)(scene), some_disparity(scene, size=2.0), stage, False, sample=3)
    for a, b in zip(got[:2], expected[:2], strict=True):
        assert np.abs(a - b).max() <= 2e-4 * np.abs(b).max()


@pytest.mark.parametrize("scales", [1, 3])
@every_scene
@every_choice
@compiled
def test_deviation_agrees(name: str, choices: Choices, scene: Scene, scales: int) -> None:
    (stage,) = stages_of(scene, scales, choices)
    w = some_disparity(scene)
    expected, got = (
        engine.download(engine.deviation(engine.upload(w), stage))
        for engine in (make("reference", choices)(scene), make(name, choices)(scene))
    )
    assert got == pytest.approx(expected, rel=5e-3)


@pytest.mark.parametrize("shape", [(31, 42), (1, 30), (31, 1), (2, 2)])
@pytest.mark.parametrize("reweight", [False, True])
@compiled
def test_the_solver_makes_the_smoothness_anisotropic(
    name: str, shape: tuple[int, int], reweight: bool, exactly: None
) -> None:
    w, term = random_system(shape, seed=3, empty=0.0)
    choices = ALONE["smoothness"]
    expected, got, by_default = (
        solve(make(*one)(blank_scene(shape)), w, term, 0.5, reweight)
        for one in (("reference", choices), (name, choices), (name,))
    )
    assert np.abs(got - expected).max() <= 2e-3 * np.abs(expected).max()
    if reweight and min(shape) > 2:
        assert np.abs(got - by_default).max() > 0.01 * np.abs(expected).max()


@pytest.mark.parametrize("scales", [1, 3, 5])
@pytest.mark.parametrize("scene", ["cross", "grid", "areas not seen"])
@every_choice
@compiled
def test_a_step_agrees(name: str, choices: Choices, scene: str, scales: int, exactly: None) -> None:
    there = CHOSEN_SCENES[scene]
    stage = stages_of(there, scales, choices)[0]
    assert np.abs(stepped(name, choices, there, stage) - stepped("reference", choices, there, stage)).mean() < 2e-5


@pytest.mark.parametrize("choice", OF_A_STEP)
@compiled
def test_each_choice_matters(name: str, choice: str, exactly: None) -> None:
    """By more than what the tests above let pass."""
    scene = CHOSEN_SCENES["grid"]
    (stage,) = stages_of(scene, 3, BY_DEFAULT)
    assert np.abs(stepped(name, ALONE[choice], scene, stage) - stepped(name, BY_DEFAULT, scene, stage)).mean() > 1e-4


def stepped(name: str, choices: Choices, scene: Scene, stage: Stage) -> NDArray[Any]:
    """Return the disparity after a step."""
    engine = make(name, choices)(scene)
    return engine.download(engine.step(engine.upload(some_disparity(scene)), stage).w)


@pytest.mark.parametrize("scales", [3, 4])
@compiled
def test_a_printed_run_follows_the_reference(name: str, scales: int) -> None:
    scene = synth.render("occlusion", (50, 61), grid=3)
    options = Options.printed("gcm", scales=scales, solves=4)
    expected, found = (minimise(scene, options, engine=make(one, PRINTED)(scene)) for one in ("reference", name))
    assert [row.scales for row in found.history] == [row.scales for row in expected.history]
    for got, wanted in zip(found.history, expected.history, strict=True):
        assert got.rmse == pytest.approx(wanted.rmse, abs=2e-3)


@pytest.mark.parametrize("scales", [1, 3, 5])
@pytest.mark.parametrize("choices", [BY_DEFAULT, PRINTED], ids=["default", "printed"])
def test_tiles_change_nothing(choices: Choices, scales: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long filters reach from one tile far into the next ones."""
    scene = random_scene((29, 70), ((1, 0), (0, 1), (1, 1)))
    stage, w = stages_of(scene, scales, choices)[0], some_disparity(scene, size=2.0)
    whole = data_term(make("cpu", choices)(scene), w, stage, True, sample=3)
    monkeypatch.setattr(layout, "TILE_COLUMNS", 16)
    monkeypatch.setattr(layout, "MARGINS", 0)
    for a, b in zip(data_term(make("cpu", choices)(scene), w, stage, True, sample=3), whole, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-6 * np.abs(b).max())


@pytest.mark.parametrize("scene", ["occlusion", "rotated"])
@pytest.mark.parametrize("scales", [1, 3, 6])
def test_any_number_of_threads_gives_the_same_bytes(scene: str, scales: int) -> None:
    there, found = synth.render(scene, (61, 72), grid=3), []
    stage = stages_of(there, scales, PRINTED)[0]
    for count in (1, 2, 3, 7):
        engine = CpuEngine(there, PAPER_EPSILON, Threads(count), PRINTED)
        w = engine.upload(there.ground_truth)
        after, deviation = engine.step(w, stage).w, engine.deviation(w, stage)
        found.append((after.tobytes(), deviation.tobytes()))
    assert found.count(found[0]) == len(found)
