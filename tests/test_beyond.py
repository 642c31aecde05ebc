"""The experiment `beyond`: its tables from made-up records, and a whole run on small scenes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gradcon import synth
from gradcon.cli import main
from gradcon.experiments import beyond_tables as tables
from gradcon.experiments.beyond_tables import NEW, Scores
from gradcon.experiments.peer_methods import PEERS, missing_libraries
from gradcon.experiments.published import PUBLISHED, SCENES
from gradcon.methods.registry import METHODS

pytestmark = pytest.mark.slow


def record(rmse: float, badpix: float = 10.0, seconds: float = 2.0, at_jumps: float | None = 1.0) -> dict[str, Any]:
    metrics = {"rmse": rmse, "rmse_inner": rmse / 2, "mse_100": 25 * rmse**2, "q25": 1.0}
    metrics |= {f"badpix_{limit}": badpix for limit in ("007", "003", "001")}
    return {"metrics": metrics, "jumps": {"rmse_at_jumps": at_jumps, "rmse_elsewhere": 0.1}, "seconds": seconds}


def scores(kind: str = "hci", **rmse: tuple[float, float]) -> Scores:
    """Return scores of two scenes, by method; an underscore stands for a hyphen."""
    by_method = {name.replace("_", "-"): values for name, values in rmse.items()}
    records = {
        scene: {key: record(values[k]) for key, values in by_method.items()} for k, scene in enumerate(("cotton", "x"))
    }
    return Scores(kind, {key: key for key in by_method}, records)


MADE_UP = {
    "gcm": (0.4, 0.2),
    "coarse_to_fine": (0.5, 0.5),
    "sweep": (0.2, 0.21),
    "sweep_without_edges": (0.22, 0.19),
    "peer_dis_tuned": (0.3, 0.2),
    "peer_dis_defaults": (0.9, 0.9),
}


def test_a_row_is_the_mean_of_the_scenes() -> None:
    rows = scores(**MADE_UP).rows()
    assert list(rows) == ["gcm", "coarse-to-fine", "sweep", "peer-dis-tuned", "peer-dis-defaults"]
    assert rows["gcm"]["rmse"] == pytest.approx(0.3)
    assert rows["gcm"]["rmse_inner"] == pytest.approx(0.15)
    assert rows["gcm"]["scenes"] == {"cotton": 0.4, "x": 0.2}
    assert all(column.value(row) is not None for column in tables.COLUMNS for row in rows.values())


def test_a_scene_without_jumps_does_not_count_beside_jumps() -> None:
    found = Scores("hci", {NEW: NEW}, {"flat": {NEW: record(1.0, at_jumps=None)}, "deep": {NEW: record(1.0)}})
    assert found.row(NEW)["rmse_at_jumps"] == 1.0
    flat = Scores("hci", {NEW: NEW}, {"flat": {NEW: record(1.0, at_jumps=None)}})
    assert flat.row(NEW)["rmse_at_jumps"] is None


def test_gcm_counts_with_its_best_settings() -> None:
    assert scores(**MADE_UP).best_gcm == "gcm"
    found = scores("middlebury", **MADE_UP, gcm_six_scales=(0.1, 0.1))
    assert found.best_gcm == "gcm-six-scales"
    assert found.shown == ["gcm-six-scales", "peer-dis-tuned", "sweep"]
    assert scores(gcm=(1, 1), sweep=(1, 1)).shown == ["gcm", "sweep"]


def test_the_other_tables() -> None:
    both = {"hci": scores(**MADE_UP), "middlebury": scores("middlebury", **MADE_UP)}
    found = {table.name: table.rows for table in tables.more_tables(both, {"edges": "follow the edges"})}
    assert tuple(found) == tables.NAMES
    scene = found["beyond-scenes"]["hci-x"]
    assert (scene["gcm"], scene["peer"], scene["sweep"]) == (0.2, 0.2, 0.21)
    assert scene["change_percent"] == pytest.approx(5)
    assert found["beyond-scenes"]["middlebury-mean"]["change_percent"] == pytest.approx(100 * (0.205 / 0.3 - 1))
    left_out = found["beyond-ingredients"]
    assert list(left_out) == ["sweep", "sweep-without-edges"]
    assert left_out["sweep"]["hci"]["change_percent"] is None
    assert left_out["sweep-without-edges"]["label"] == "edges: follow the edges"
    assert left_out["sweep-without-edges"]["middlebury"]["change_percent"] == pytest.approx(0)
    published = found["beyond-published"]
    assert set(published["sweep"]["mse_100"]) == {"cotton"}  # x is not a scene of the benchmark's test
    assert published["sweep"]["rmse"] == pytest.approx(0.1)
    ober = next(row for label, row in published.items() if label.startswith("OBER"))
    assert ober["rmse"] == pytest.approx(np.sqrt(0.00555))
    assert ober["badpix_007"] == 1.11


def test_scenes_without_published_figures_have_no_such_table() -> None:
    found = scores(**MADE_UP)
    found.records["y"] = found.records.pop("cotton")
    assert [table.name for table in tables.more_tables({"hci": found}, {})] == ["beyond-scenes", "beyond-ingredients"]


def test_claims() -> None:
    told = tables.claims({"hci": scores(**MADE_UP)})
    assert [claim.supported for claim in told] == [False, False, True, True]  # all have the same bad pixels
    worse = scores(**{**MADE_UP, "sweep": (0.2, 0.22)})
    for found in worse.records.values():
        found[NEW] = record(found[NEW]["metrics"]["rmse"], badpix=5.0, seconds=3.0)
    told = tables.claims({"hci": worse})
    assert [claim.supported for claim in told] == [True, True, False, False]
    assert "+10.0 %, on x" in told[2].measured


def test_published_means_are_those_of_the_eight_scenes() -> None:
    """The root is taken scene by scene."""
    known = {"CAE": 0.156, "SPO ": 0.163, "SPO-MO": 0.141, "OAVC": 0.154, "OBER": 0.116, "EPINET": 0.106}
    for start, expected in known.items():
        (method,) = (method for method in PUBLISHED if method.label.startswith(start))
        values = method.mse_of(list(SCENES)).values()
        assert len(values) == 8
        assert np.mean(np.sqrt(np.array(list(values)) / 100)) == pytest.approx(expected, abs=6e-4)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two small light fields, and a scene in Middlebury's layout: a near strip in front of a wall."""
    root = tmp_path_factory.mktemp("beyond")
    for number, name in enumerate(("boxes", "cotton")):
        synth.write("occlusion", root / "hci" / name, (48, 48), views=5, seed=number)
    folder = root / "middlebury" / "Aloe"
    folder.mkdir(parents=True)
    wall, strip = np.random.default_rng(0).integers(0, 256, (2, 370, 120), dtype=np.uint8)  # third size is 370 high
    for view in range(7):
        image = wall[:, 20 + 2 * view :][:, :64].copy()
        image[:, 30 - 3 * (view - 1) :][:, :12] = strip[:, :12]
        Image.fromarray(image).save(folder / f"view{view}.png")
    truth = np.full((370, 64), 2 * 4 * 3, np.uint8)  # 2 px a step, in front 3 px
    truth[:, 30:42] = 3 * 4 * 3
    Image.fromarray(truth).save(folder / "disp1.png")
    return root


def test_a_run_on_small_scenes(data: Path, tmp_path: Path) -> None:
    command = ["reproduce", "--hci", str(data / "hci"), "--out", str(tmp_path), "--quick", "--only", "beyond"]
    assert main([*command, "--middlebury", str(data / "middlebury")]) == 0
    found = json.loads((tmp_path / "results.json").read_text())
    peers = [f"peer-{name}-{how}" for name in PEERS for how in ("tuned", "defaults") if missing_libraries() is None]
    assert list(found["tables"]) == ["beyond", *tables.NAMES]
    hci, middlebury = found["tables"]["beyond"], found["tables"]["beyond-middlebury"]
    assert list(hci) == ["gcm", "coarse-to-fine", NEW, *peers]
    assert set(middlebury) == {*hci, "gcm-six-scales", "coarse-to-fine-six-scales"}
    for row in (*hci.values(), *middlebury.values()):
        assert row["rmse"] == pytest.approx(np.mean(list(row["scenes"].values())))
        assert row["seconds"] > 0
        assert row["rmse_at_jumps"] > 0
    ingredients = found["tables"]["beyond-ingredients"]
    assert list(ingredients) == [NEW, *(tables.without(term) for term in METHODS[NEW].terms)]
    assert ingredients[NEW]["middlebury"]["rmse"] == middlebury[NEW]["rmse"]
    text = (tmp_path / "report.md").read_text()
    assert "### Published figures" in text
    for name in ("beyond", *tables.NAMES):
        assert (tmp_path / f"{name}.csv").is_file()
    for kind in ("hci", "middlebury"):
        assert f"(beyond-{kind}-errors.png)" in text
        with Image.open(tmp_path / f"beyond-{kind}-errors.png") as image:
            assert len(np.unique(np.asarray(image))) > 100
    # A second run finds all jobs done, and keeps every table if another experiment is run.
    assert main([*command, "--middlebury", str(data / "middlebury")]) == 0
    assert json.loads((tmp_path / "results.json").read_text())["work"]["computed"] == 0
    assert main([*command[:-1], "epsilon", "--middlebury", str(data / "middlebury")]) == 0
    again = json.loads((tmp_path / "results.json").read_text())["tables"]
    assert {name: again[name] for name in found["tables"]} == found["tables"]
    assert (tmp_path / "beyond-scenes.csv").is_file()


def test_a_users_file_with_a_tables_name_is_kept(data: Path, tmp_path: Path) -> None:
    (tmp_path / "beyond-scenes.csv").write_text("mine")
    assert main(["reproduce", "--hci", str(data / "hci"), "--out", str(tmp_path), "--only", "beyond", "--quick"]) == 2
    assert (tmp_path / "beyond-scenes.csv").read_text() == "mine"
