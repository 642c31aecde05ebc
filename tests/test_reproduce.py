"""`gradcon reproduce`, from folders of scenes to the report."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import fields
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gradcon import synth
from gradcon.cli import main
from gradcon.engines import Choices
from gradcon.experiments import EXPERIMENTS, PAPER, geometry, scale_ratio
from gradcon.experiments.datasets import find
from gradcon.experiments.peer_methods import missing_libraries
from gradcon.experiments.report import claims_table
from gradcon.experiments.statements import STATEMENTS
from gradcon.methods.warm_up import compile_engine

pytestmark = pytest.mark.slow

METHODS = {
    "single-scale": {"naive", "gcm-one-scale", "progressive"},
    "multi-scale": {
        "coarse-to-fine",
        "gcm",
        "gcm-without-scale",
        "gcm-without-gradient",
        "progressive",
        "gcm-one-scale",
    },
    "epsilon": {"low", "default", "high"},
    "middlebury": {"coarse-to-fine", "gcm"},
}


@pytest.fixture(scope="module", autouse=True)
def small_and_compiled() -> Iterator[None]:
    """Make the experiments that generate their own images quicker.

    Compiling here, before any worker starts, also lets all workers load the same machine code: a process that compiles
    the functions itself may round differently in the last bits.
    """
    compile_engine("cpu", "gcm", "naive", "sweep")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(geometry, "SIZE", 64)
        patch.setattr(scale_ratio, "PIXELS", 64)
        yield


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two small light fields, a third without ground truth, and two small scenes in Middlebury's layout."""
    root = tmp_path_factory.mktemp("scenes")
    for number, name in enumerate(("backgammon", "pens", "blind")):
        synth.write("planes", root / "hci" / name, (48, 48), views=5, seed=number)
    (root / "hci/blind/gt_disp_lowres.pfm").unlink()
    for seed, name in enumerate(("Aloe", "Baby1")):
        folder = root / "middlebury" / name
        folder.mkdir(parents=True)
        texture = np.random.default_rng(seed).integers(0, 256, (370, 80), dtype=np.uint8)  # third size is 370 high
        for view in range(7):
            Image.fromarray(texture[:, 20 + 2 * view :][:, :40]).save(folder / f"view{view}.png")
        Image.fromarray(np.full((370, 40), 2 * 4 * 3, np.uint8)).save(folder / "disp1.png")  # 2 px a step
    return root


def arguments(scenes: Path, out: Path, *more: str) -> list[str]:
    folders = ["--hci", str(scenes / "hci"), "--middlebury", str(scenes / "middlebury")]
    return ["reproduce", *folders, "--out", str(out), *more]


def results(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "results.json").read_text())
    return found


@pytest.fixture(scope="module")
def quick(scenes: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All experiments, quick; the exit code 1 says that a scene was left out."""
    out = tmp_path_factory.mktemp("reproduction") / "new" / "out"
    assert main(arguments(scenes, out, "--quick")) == 1
    return out


def test_every_experiment_has_its_table(quick: Path) -> None:
    found = results(quick)
    assert list(found["experiments"]) == list(EXPERIMENTS)
    for name, methods in METHODS.items():
        table = found["tables"][name]
        assert set(table) == methods
        for row in table.values():
            assert row["rmse"] == pytest.approx(np.mean(list(row["scenes"].values())))
            assert len(row["alphas"]) == 2
            assert len(set(row["alphas"])) == 1  # a quick run has one for each method
    assert set(found["tables"]["multi-scale"]["gcm"]["scenes"]) == {"backgammon", "pens"}
    assert found["tables"]["multi-scale"]["gcm"]["paper"] == pytest.approx(0.2245, abs=1e-4)
    for name in EXPERIMENTS:
        assert found["tables"][name] or (name == "peers" and missing_libraries() is not None)


def test_curves_are_means_by_solve_and_end_at_the_tables_values(quick: Path) -> None:
    found = results(quick)
    for name in ("single-scale", "multi-scale", "middlebury"):
        for method, row in found["tables"][name].items():
            curve = found["curves"][name][method]
            assert set(row["solves"].values()) == {40}
            assert len(curve) == 40
            assert curve[-1] == pytest.approx(row["rmse"])


def test_robustness_has_every_method_and_every_change(quick: Path) -> None:
    table = results(quick)["tables"]["robustness"]
    assert len(table) == 7
    for row in table.values():
        levels = [f"baselines +- {level}" for level in ("0.02", "0.05", "0.1")]
        assert list(row["by_change"]) == ["same frame", "barrel distortion", *levels]
        assert all(value != row["undisturbed"] for value in row["by_change"].values())


@pytest.mark.skipif(missing_libraries() is not None, reason="needs the extra `peers`")
def test_peers_stand_beside_ours(quick: Path) -> None:
    table = results(quick)["tables"]["peers"]
    assert set(table) == {"gradcon", "gradcon-40", "sgbm", "dis", "tvl1", "ilk"}
    assert all(row["seconds"] > 0 and 0 <= row["badpix_007"] <= 100 for row in table.values())


def test_uncertainty_is_compared_on_every_scene_of_both_sets(quick: Path) -> None:
    table = results(quick)["tables"]["uncertainty"]
    scenes = {"hci-backgammon", "hci-pens", "middlebury-Aloe", "middlebury-Baby1"}
    assert set(table) == scenes | {"hci-mean", "middlebury-mean"}
    mean = np.mean([table[f"hci-{name}"]["reduction_20"] for name in ("backgammon", "pens")])
    assert table["hci-mean"]["reduction_20"] == pytest.approx(mean)


def test_files(quick: Path) -> None:
    names = {path.name for path in quick.iterdir()}
    pictures = ["single-scale", "multi-scale", "middlebury", "scale-ratio", "uncertainty"]
    pictures += ["panels-backgammon", "panels-pens", "progress-pens", "beyond-hci-errors", "beyond-middlebury-errors"]
    assert {f"{name}.{end}" for name in pictures for end in ("png", "svg")} <= names
    assert {f"{name}.csv" for name in EXPERIMENTS if name != "peers"} <= names
    assert not [name for name in names if name.endswith(".tmp")]
    for name in pictures:
        with Image.open(quick / f"{name}.png") as image:
            assert min(image.size) > 200
        assert (quick / f"{name}.svg").read_text().startswith("<?xml")
    with open(quick / "multi-scale.csv", newline="") as handle:
        rows = list(csv.DictReader(handle))
    table = results(quick)["tables"]["multi-scale"]
    assert {row["key"]: float(row["RMSE"]) for row in rows} == {key: row["rmse"] for key, row in table.items()}


def test_the_report_shows_the_papers_values_beside_ours(quick: Path) -> None:
    text = (quick / "report.md").read_text()
    row = results(quick)["tables"]["multi-scale"]["gcm"]
    printed = row["printed"]["rmse"]
    assert f"| GCM | {row['rmse']:.4f} | 0.2245 | {row['difference_percent']:+.1f} | {printed:.4f} |" in text
    assert "4D Light Field Benchmark: 2 of the paper's 24 scenes: backgammon, pens." in text
    assert re.search(r"blind: has no ground truth", text)
    assert re.search(r"The workers spent .* % of their time outside jobs\.", text)
    for picture in re.findall(r"\]\((.*?\.png)\)", text):
        assert (quick / picture).exists()


def test_the_page_holds_everything_itself(quick: Path) -> None:
    class Parser(HTMLParser):
        tags: list[str] = []  # noqa: RUF012
        sources: list[str] = []  # noqa: RUF012

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.tags.append(tag)
            self.sources += [value or "" for name, value in attrs if name in ("src", "href")]

    parser = Parser()
    parser.feed((quick / "report.html").read_text())
    assert parser.tags.count("img") == 10
    assert all(source.startswith("data:image/png;base64,") for source in parser.sources)
    assert parser.tags.count("table") == 1 + len(results(quick)["tables"])


def test_every_run_is_listed_with_its_parameters(quick: Path) -> None:
    found = results(quick)
    kept = {path.stem for path in (quick / "jobs").glob("*.json")}
    assert set(found["runs"]) == kept
    assert found["versions"]["gradcon"]
    for run in found["runs"].values():
        made_up = run["function"].endswith(("ratios", "rendered_trial"))  # these jobs read no scene
        assert bool(run["inputs"]) != made_up
        assert run["parameters"]
        assert run["failed"] is None


def test_a_second_run_computes_nothing(quick: Path, scenes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = results(quick)
    assert main(arguments(scenes, quick, "--quick", "--only", "multi-scale,epsilon")) == 1
    after = results(quick)
    assert after["work"]["computed"] == 0
    assert "blind" in capsys.readouterr().err
    assert after["tables"] == before["tables"]  # those of the experiments that were not run this time are kept
    assert list(after["experiments"]) == list(before["experiments"])


def test_a_damaged_job_is_computed_again_and_counted(quick: Path, scenes: Path, tmp_path: Path) -> None:
    out = tmp_path / "copy"
    shutil.copytree(quick, out)
    runs = results(out)["runs"]
    course = {"run_end": "solves", "stage_solves": 13}  # of the comparisons
    (key,) = (
        key
        for key, run in runs.items()
        if run["label"] == "pens, gcm, 3 scales, alpha 0.5"
        and course.items() <= run["parameters"]["options"]["choices"].items()
        and not run["parameters"]["trust"]
    )
    path = out / "jobs" / f"{key}.json"
    path.write_text(path.read_text()[:50])
    assert main(arguments(scenes, out, "--quick", "--only", "multi-scale")) == 1
    found = results(out)
    assert found["work"]["computed"] == 1
    assert key in found["work"]["recomputed_because_damaged"][0]
    assert "1 damaged and computed again" in (out / "report.md").read_text()
    for method, row in results(quick)["tables"]["multi-scale"].items():
        assert found["tables"]["multi-scale"][method]["scenes"] == row["scenes"]


def test_the_former_name_of_an_experiment_is_accepted(quick: Path, scenes: Path, tmp_path: Path) -> None:
    out = tmp_path / "copy"
    shutil.copytree(quick, out)
    assert main(arguments(scenes, out, "--quick", "--only", "confidence")) == 1
    found = results(out)
    assert (found["work"]["computed"], found["work"]["reused"]) == (0, 4)  # the jobs of `uncertainty`
    assert list(found["experiments"]) == list(EXPERIMENTS)


def test_a_changed_scene_is_computed_anew(quick: Path, scenes: Path, tmp_path: Path) -> None:
    out, data = tmp_path / "out", tmp_path / "hci"
    shutil.copytree(quick, out)
    shutil.copytree(scenes / "hci", data)
    shutil.rmtree(data / "blind")
    synth.write("planes", data / "pens", (48, 48), views=5, seed=9)
    assert main(["reproduce", "--hci", str(data), "--out", str(out), "--quick", "--only", "epsilon"]) == 0
    found = results(out)
    assert (found["work"]["computed"], found["work"]["reused"]) == (3, 3)
    assert list(found["experiments"]) == ["epsilon"]  # the others were run on other scenes
    assert found["replaced"]
    assert {path.name for path in out.glob("*.csv")} == {"epsilon.csv"}
    assert not list(out.glob("*.png"))


def test_a_deleted_picture_removes_only_its_own_experiment(quick: Path, scenes: Path, tmp_path: Path) -> None:
    out = tmp_path / "copy"
    shutil.copytree(quick, out)
    (out / "middlebury.png").unlink()
    assert main(arguments(scenes, out, "--quick", "--only", "epsilon")) == 1
    assert set(results(quick)["experiments"]) - set(results(out)["experiments"]) == {"middlebury"}


def test_a_failed_job_is_named_and_its_scene_left_out(
    scenes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The scene's folder disappears after it was hashed."""
    data = tmp_path / "hci"
    shutil.copytree(scenes / "hci", data, ignore=shutil.ignore_patterns("blind"))

    def find_and_lose(folder: Path, kind: str) -> Any:
        found = find(folder, kind)
        shutil.rmtree(data / "pens")
        return found

    monkeypatch.setattr("gradcon.experiments.reproduce.find", find_and_lose)
    command = ["reproduce", "--hci", str(data), "--out", str(tmp_path / "out"), "--quick", "--only", "alpha"]
    assert main(command) == 1
    errors = capsys.readouterr().err
    assert "left out: pens, gcm, 3 scales, alpha 0.5: " in errors
    found = results(tmp_path / "out")
    assert found["work"]["failed"] == 4  # two methods in two forms
    assert set(found["tables"]["alpha"]["gcm"]["scenes"]) == {"backgammon"}
    assert "left out, because some of their jobs failed: pens." in (tmp_path / "out" / "report.md").read_text()


def test_every_statement_of_the_paper_has_a_verdict_in_its_order(quick: Path) -> None:
    rows = claims_table(results(quick))[1:]
    texts = [text for _, text, *_ in rows]
    assert texts[: len(STATEMENTS)] == [statement.text for statement in STATEMENTS.values()]
    assert all(text.startswith("(Not in the paper.)") for text in texts[len(STATEMENTS) :])
    assert {verdict for _, _, verdict, *_ in rows} <= {"supported", "not supported", "cannot tell"}
    assert all(measured for *_, measured in rows)


def test_every_experiment_says_how_it_was_made(quick: Path) -> None:
    found = results(quick)["experiments"]
    for name, described in found.items():
        made = described["made"]
        solves = None if name == "scale-ratio" else 40  # which estimates nothing
        assert (made["engine"], made["solves"], made["alphas"], made["quick"]) == ("cpu", solves, [], True)
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", made["date"])
        assert made["scenes"].get("hci", ["backgammon", "pens"]) == ["backgammon", "pens"], name
    assert found["middlebury"]["made"]["scenes"] == {"middlebury": ["Aloe", "Baby1"]}


def test_only_paper_runs_the_papers_experiments(quick: Path, scenes: Path, tmp_path: Path) -> None:
    """The jobs are found done; Middlebury is left out, because its scenes are not given."""
    out = tmp_path / "out"
    shutil.copytree(quick / "jobs", out / "jobs")
    assert main(["reproduce", "--hci", str(scenes / "hci"), "--out", str(out), "--quick", "--only", "paper"]) == 1
    found = results(out)
    assert list(found["experiments"]) == [name for name in PAPER if name != "middlebury"]
    assert found["work"]["computed"] == 0
    assert [text for text in found["left_out"] if text.startswith("middlebury: needs scenes")]


def test_choices_are_changed_one_at_a_time(quick: Path) -> None:
    table = results(quick)["tables"]["choices"]
    changed = [row["choice"] for row in table.values()]
    assert set(changed) == {each.name for each in fields(Choices)} | {"all as printed"}
    for row in table.values():
        assert row["rmse_ours"] == pytest.approx(np.mean(list(row["scenes_ours"].values())))
        assert row["change_percent"] == pytest.approx(100 * (row["rmse"] / row["rmse_ours"] - 1), abs=1e-9)
    same = [row["rmse_ours"] for row in table.values() if row["method"] == "GCM" and row["choice"] != "run_end"]
    assert len(set(same)) == 1


def test_the_choices_of_a_step_change_the_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the engine that is the paper in float64; the sectors make no difference to views on the axes."""
    monkeypatch.setattr("gradcon.experiments.reproduce.QUICK_SOLVES", 3)
    synth.write("occlusion", tmp_path / "hci" / "scene", (20, 20), views=9)
    out = tmp_path / "out"
    command = ["reproduce", "--hci", str(tmp_path / "hci"), "--out", str(out), "--quick", "--only", "choices"]
    assert main([*command, "--engine", "reference"]) == 0
    table = results(out)["tables"]["choices"].values()
    moved = {row["choice"] for row in table if row["rmse"] != row["rmse_ours"]}
    of_a_step = {"scale_term", "unseen", "smoothness", "smoothness_weight", "filters", "widths"}
    assert of_a_step <= moved
    assert "sectors" not in moved


def test_alphas_are_chosen_by_cross_validation(scenes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradcon.experiments.reproduce.ALPHAS", (0.1, 0.5, 2.0))
    monkeypatch.setattr("gradcon.methods.options.Options.solves", 12)
    data = tmp_path / "hci"
    shutil.copytree(scenes / "hci", data, ignore=shutil.ignore_patterns("blind"))
    assert main(["reproduce", "--hci", str(data), "--out", str(tmp_path / "out"), "--only", "alpha"]) == 0
    row = results(tmp_path / "out")["tables"]["alpha"]["gcm"]
    assert list(row["by_alpha"]) == ["0.1", "0.5", "2"]
    runs = [run for run in results(tmp_path / "out")["runs"].values() if "printed" not in run["label"]]
    final = {(run["label"].split(",")[0], run["parameters"]["options"]["alpha"]): run["metrics"]["rmse"]
             for run in runs if run["parameters"]["options"]["method"] == "gcm"}  # fmt: skip
    others = {"backgammon": "pens", "pens": "backgammon"}
    for scene, other in others.items():
        best = min((0.1, 0.5, 2.0), key=lambda alpha: final[other, alpha])
        assert row["alpha_of_scene"][scene] == best
        assert row["scenes"][scene] == pytest.approx(final[scene, best], rel=1e-5)


def test_a_users_file_is_not_overwritten(scenes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "report.md").write_text("my thesis")
    assert main(arguments(scenes, tmp_path, "--quick", "--only", "scale-ratio")) == 2
    assert "report.md: was not written by `gradcon reproduce`" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["report.md"]
    (tmp_path / "report.md").rename(tmp_path / "scale-ratio.png")
    assert main(arguments(scenes, tmp_path, "--quick", "--only", "scale-ratio")) == 2
    assert (tmp_path / "scale-ratio.png").read_text() == "my thesis"


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--only", ","], "only: names no experiment"),
        (["--only", "tables"], "only: 'tables' is not an experiment; choose from paper, more, single-scale"),
        (["--only", "multi-scale"], "multi-scale: needs scenes of the 4D Light Field Benchmark; add --hci DIR"),
        (["--hci", "nowhere"], "nowhere: does not exist"),
        (["--engine", "quantum", "--only", "geometry"], "engine: 'quantum'"),
        (["--workers", "0", "--only", "geometry"], "workers: cannot be 0"),
    ],
)
def test_wrong_input_is_one_sentence(
    tmp_path: Path, more: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", "--out", str(tmp_path / "out"), *more]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"gradcon: {says}")
    assert captured.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.data
def test_real_scenes_are_in_the_papers_order(data_folder: Path, tmp_path: Path) -> None:
    for name in ("cotton", "dishes"):
        (tmp_path / "hci").mkdir(exist_ok=True)
        (tmp_path / "hci" / name).symlink_to(data_folder / "hci" / name)
    out = tmp_path / "out"
    command = ["reproduce", "--hci", str(tmp_path / "hci"), "--out", str(out), "--quick", "--only", "multi-scale"]
    assert main(command) == 0
    rmse = {method: row["rmse"] for method, row in results(out)["tables"]["multi-scale"].items()}
    others = ("coarse-to-fine", "progressive", "gcm-without-scale", "gcm-without-gradient")
    assert rmse["gcm"] < min(rmse[method] for method in others)
    assert rmse["gcm-without-scale"] > 1.2 * rmse["gcm"]
    assert rmse["gcm-without-gradient"] > 1.05 * rmse["gcm"]
