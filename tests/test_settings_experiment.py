"""The experiment `settings`, end to end on tiny scenes."""

import json

import pytest

from gradcon import synth
from gradcon.cli import main

pytestmark = pytest.mark.slow


def test_every_scene_stands_with_its_best_settings_beside_nothing_set(tmp_path):
    for seed, name in enumerate(("cotton", "town")):
        synth.write("planes", tmp_path / "hci" / name, (48, 48), views=5, seed=seed)
    out = tmp_path / "out"
    command = ["reproduce", "--hci", str(tmp_path / "hci"), "--out", str(out), "--quick", "--only", "settings"]
    assert main([*command, "--engine", "cpu", "--workers", "1"]) == 0
    table = json.loads((out / "results.json").read_text())["tables"]["settings"]
    (row,) = table.values()  # a quick run takes one scene
    assert len(row["tried"]) == 3  # two epsilons, and another alpha at the better one
    assert row["best"] == min(row["tried"].values()) == row["tried"][row["best_setting"]]
    for method in ("gcm", "sweep"):
        assert row[f"{method}_excess"] == pytest.approx(100 * (row[method] / row["best"] - 1))
    assert "epsilon" in row["found"]
    assert "epsilon" in (out / "report.md").read_text()
