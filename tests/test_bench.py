"""The benchmark measures what it says, at a size where that takes a moment."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gradcon import bench, cli, estimate
from gradcon.errors import InputError
from gradcon.estimate import Options


@pytest.fixture(scope="module")
def figures() -> bench.Figures:
    return bench.bench(size=96, views=9, solves=3)


def test_every_figure_is_there(figures: bench.Figures) -> None:
    assert figures["scene"] == {"width": 96, "height": 96, "views": 9, "scales": 3}
    for measured in (figures, figures["reference"]):
        seconds = measured["seconds"]
        assert set(seconds) == {"warp", "data_term", "solve", "update", "total"}
        assert all(value > 0 for value in seconds.values())
        assert measured["inner_iterations"] >= 1
    assert figures["ratio"] > 1
    assert figures["machine"]["cores"] >= 1
    assert figures["machine"]["versions"]["numba"]


def test_memory_is_that_of_a_fresh_process(figures: bench.Figures) -> None:
    memory = figures["memory"]
    assert 20 < memory["imports"] < memory["peak"] < 1000


def test_figures_read_as_text_and_as_json(figures: bench.Figures) -> None:
    text = bench.describe(figures)
    for told in ("9 views of 96 x 96", "data_term", "reference", "ratio", "MB at the peak"):
        assert told in text
    assert json.loads(json.dumps(figures)) == figures


def test_the_scene_is_what_it_says() -> None:
    images, cells = bench.make_views(64, 9)
    assert cells[0] == (4, 4)
    assert all(4 in cell for cell in cells)
    assert len(set(bench.make_views(8, 81)[1])) == 81
    result = estimate(bench._scene(images, cells), Options(solves=40))
    y, x = np.mgrid[:64, :64]
    error = (result.disparity - np.sin(x / 40) * np.cos(y / 60))[8:-8, 8:-8]
    assert np.sqrt(np.mean(error**2)) < 0.1


def test_sweep(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(bench, "SIZES", (32, 48))
    monkeypatch.setattr(bench, "VIEWS", ())
    assert cli.main(["bench", "--sweep", "--solves", "1", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["size"], row["views"]) for row in rows] == [(32, 17), (48, 17)]
    assert all(row["ns_a_pixel_and_view"] > 0 for row in rows)
    assert cli.main(["bench", "--sweep", "--solves", "1"]) == 0
    assert "48 x 48" in capsys.readouterr().out


@pytest.mark.parametrize("bad", [{"engine": "abacus"}, {"size": 1}, {"views": 82}, {"views": 1}, {"solves": 0}])
def test_refuses_what_it_cannot_measure(bad: dict[str, int | str]) -> None:
    (field,) = bad
    with pytest.raises(InputError, match=f"^{field}: "):
        bench.bench(**bad)  # type: ignore[arg-type]
