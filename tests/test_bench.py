"""The benchmark measures what it says, at a size where that takes a moment."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from gradcon import bench, cli, estimate
from gradcon.bench import measure, solves
from gradcon.bench.scenes import make_scene
from gradcon.errors import InputError
from gradcon.methods.options import Options

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def figures() -> measure.Figures:
    return bench.bench(size=96, views=9, solves=3)


def test_every_figure_is_there(figures: measure.Figures) -> None:
    assert figures["scene"] == {"name": "occlusion", "width": 96, "height": 96, "views": 9, "scales": 3}
    for measured in (figures, figures["reference"]):
        seconds = measured["seconds"]
        assert set(seconds) == {"warp", "data_term", "solve", "update", "total"}
        assert all(value > 0 for value in seconds.values())
        assert seconds["total"] == pytest.approx(sum(seconds[stage] for stage in solves.STAGES), rel=0.5)  # medians
    assert figures["inner_iterations"] >= 1
    assert figures["reference"]["inner_iterations"] == 0  # it solves directly
    assert figures["ratio"] == figures["reference"]["seconds"]["total"] / figures["seconds"]["total"] > 1
    assert figures["cores"] >= 1
    assert figures["versions"]["numba"]


def test_memory_is_that_of_a_fresh_process(figures: measure.Figures) -> None:
    assert 20 < figures["import_memory_mb"] < figures["peak_memory_mb"] < 1000


def test_figures_read_as_text_and_as_json(figures: measure.Figures) -> None:
    text = bench.describe(figures)
    for told in ("9 views of 96 x 96", "data_term", "reference", "ratio", "MB at the peak"):
        assert told in text
    assert json.loads(json.dumps(figures)) == figures


def test_engines_take_turns_from_the_same_disparity(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = []

    def record(engine: Any, w: Any, stage: Any, reweight: bool) -> Any:
        turns.append((engine.name, np.array(w, np.float32)))
        return timed_solve(engine, w, stage, reweight)

    timed_solve = solves.timed_solve
    monkeypatch.setattr(solves, "timed_solve", record)
    solves.time_solves(["cpu", "reference"], make_scene(32, 4, 0), 3, 2)
    names, disparities = zip(*turns, strict=True)
    assert names == ("cpu",) * solves.WARM_UP + ("cpu", "reference") * 2
    assert not disparities[0].any()
    assert np.ptp(disparities[solves.WARM_UP]) > 0.01
    for w in disparities[solves.WARM_UP :]:
        np.testing.assert_array_equal(w, disparities[solves.WARM_UP])


def test_the_scene_of_a_sweep_is_what_it_says() -> None:
    for on_cross, off_cross in ((4, 0), (4, 16), (16, 64)):
        scene = make_scene(8, on_cross, off_cross)
        assert np.sum((scene.baselines == 0).any(axis=1)) == on_cross
        assert len(scene.targets) == on_cross + off_cross
    result = estimate(make_scene(64, 8, 0), Options("gcm", solves=40))
    y, x = np.mgrid[:64, :64]
    error = (result.disparity - np.sin(x / 40) * np.cos(y / 60))[8:-8, 8:-8]
    assert np.sqrt(np.mean(error**2)) < 0.1


def test_sweep(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(measure, "SIZES", ((32, 4, 0),))
    monkeypatch.setattr(measure, "VIEWS", ((48, 2, 8),))
    assert cli.main(["bench", "--sweep", "--solves", "1", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["size"], row["views"], row["on_cross"], row["off_cross"]) for row in rows] == [
        (32, 5, 4, 0),
        (48, 11, 2, 8),
    ]
    assert all(row["ns_a_pixel_and_view"] > 0 for row in rows)
    assert "48 x 48    11   2   8 " in bench.describe_sweep({"engine": "cpu", "scales": 3, "cores": 2, "rows": rows})


@pytest.mark.parametrize("bad", [{"engine": "abacus"}, {"size": 1}, {"views": 82}, {"views": 1}, {"solves": 0}])
def test_refuses_what_it_cannot_measure(bad: dict[str, int | str]) -> None:
    (field,) = bad
    with pytest.raises(InputError, match=f"^{field}: "):
        bench.bench(**bad)  # type: ignore[arg-type]


def test_what_a_solve_needs_of_a_gpu_grows_with_the_work():
    from gradcon.bench import gpu
    from gradcon.methods import schedules

    def needs(scene, scales, iterations):
        stage = schedules.build("gcm", scene.baselines, 0.5, scales)[0]
        return gpu.needs(scene, stage, iterations)

    cross, more = make_scene(32, 4, 0), make_scene(32, 4, 4)
    base = needs(cross, 3, 5)
    assert set(base) == set(solves.STAGES)
    # 4 views, each 4 (column) or 3 (row) passes of 7 + 13 + 25 taps, the blurs of five planes, and the weights; a
    # multiply-add is two operations.
    filters = 2 * (2 * 3 + 2 * 4) * (7 + 13 + 25) + 2 * 2 * 5 * (13 + 25)
    assert base["data_term"][1] == 32 * 32 * (filters + 40 * 12)
    assert base["warp"][0] == 4 * 32 * 32 * (4 + 4 + 2)
    assert all(needs(more, 3, 5)[name][1] > base[name][1] for name in ("warp", "data_term"))
    assert needs(cross, 3, 10)["solve"] > base["solve"]
    assert needs(cross, 1, 5)["data_term"][1] < base["data_term"][1]


def test_an_unusable_gpu_is_refused_before_anything_is_measured(monkeypatch, capsys):
    monkeypatch.setattr("gradcon.engines.cuda.device.why_not", lambda: "it is asleep")
    assert cli.main(["bench", "--engine", "cuda"]) == 2
    assert (
        capsys.readouterr().err == "gradcon: engine: cuda cannot be used: it is asleep; use the engine cpu, or auto.\n"
    )
