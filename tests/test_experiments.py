"""The parts of the reproduction: finding scenes, choosing alpha, disturbing cameras, protecting a user's files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from gradcon import Scene, synth
from gradcon.errors import InputError
from gradcon.experiments import EXPERIMENTS, FORMER_NAMES, GROUPS, changes, load, outputs, scale_ratio
from gradcon.experiments.crossvalidation import choose, solves_within
from gradcon.experiments.datasets import KINDS, find
from gradcon.experiments.experiment import Column, Experiment
from gradcon.experiments.report import cell
from gradcon.experiments.single_scale import ahead_from

pytestmark = pytest.mark.slow


def test_a_fold_does_not_choose_by_its_own_scenes() -> None:
    # Alone, scene a would choose 1, while b and c would choose 2.  So a must be judged with 2, and the others by a mean
    # that includes a.
    rmse = {1.0: {"a": 0.0, "b": 0.5, "c": 0.6}, 2.0: {"a": 0.4, "b": 0.4, "c": 0.3}}
    choice = choose(rmse, [["a"], ["b"], ["c"]])
    assert choice.alphas == [2.0, 1.0, 1.0]
    assert choice.of_scene == {"a": 2.0, "b": 1.0, "c": 1.0}


def test_folds_of_several_scenes_share_their_alpha() -> None:
    rmse = {0.5: {"a": 1.0, "b": 1.0, "c": 3.0, "d": 3.0}, 1.0: {"a": 2.0, "b": 2.0, "c": 1.0, "d": 1.0}}
    choice = choose(rmse, [["a", "c"], ["b", "d"]])
    assert choice.alphas == [1.0, 1.0]
    assert choose(rmse, [["a", "b"], ["c", "d"]]).of_scene == {"a": 1.0, "b": 1.0, "c": 0.5, "d": 0.5}


def test_one_scene_alone_is_judged_with_the_default() -> None:
    assert choose({0.1: {"a": 0.0}, 0.5: {"a": 1.0}}, [["a"]]).alphas == [0.5]


def test_arrival_is_for_good() -> None:
    assert solves_within([2.0, 1.01, 1.5, 1.01, 1.0], 0.02) == 4
    assert solves_within([1.0, 1.0], 0.02) == 1
    assert solves_within([0.9, 1.0], 0.02) == 2  # a value better than the final one is not within range of it


def test_ahead_for_good() -> None:
    assert ahead_from([3.0, 1.0, 2.0, 0.5], [[2.0, 2.0, 1.0, 1.0]]) == 4
    assert ahead_from([1.0], [[2.0], [3.0]]) == 1
    assert ahead_from([1.0, 3.0], [[2.0, 2.0], [9.0, 9.0]]) is None


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nested folders, as in HCI: one scene lacks its ground truth, one folder holds no scene, two share a name."""
    root = tmp_path_factory.mktemp("hci")
    for number, where in enumerate(("training/boxes", "training/town", "test/blind", "extra/town")):
        synth.write("planes", root / where, (24, 24), views=5, seed=number)
    (root / "test/blind/gt_disp_lowres.pfm").unlink()
    (root / "notes").mkdir()
    (root / "notes" / "todo.txt").write_text("nothing")
    (root / ".cache").mkdir()
    return root


def test_scenes_are_found_in_folders_of_folders(scenes: Path) -> None:
    dataset = find(scenes, "hci")
    assert [scene.name for scene in dataset.scenes] == ["boxes", "extra/town", "training/town"]
    assert len({scene.sha256 for scene in dataset.scenes}) == 3
    assert dataset.named("boxes") is dataset.scenes[0]
    assert dataset.named("pens") is None
    assert dataset.folds == [["boxes"], ["extra/town"], ["training/town"]]
    assert len(dataset.skipped) == 2
    assert any("notes" in text and "no scene" in text for text in dataset.skipped)
    assert any("blind" in text and "ground truth" in text for text in dataset.skipped)


def test_the_hash_is_of_the_content(scenes: Path, tmp_path: Path) -> None:
    synth.write("planes", tmp_path / "elsewhere", (24, 24), views=5, seed=0)
    (first,) = find(tmp_path, "hci").scenes
    assert first.sha256 == find(scenes, "hci").scenes[0].sha256
    truth = tmp_path / "elsewhere" / "gt_disp_lowres.pfm"
    content = bytearray(truth.read_bytes())
    content[-1] ^= 1
    truth.write_bytes(content)
    assert find(tmp_path, "hci").scenes[0].sha256 != first.sha256


@pytest.mark.parametrize("wrong", ["missing", "file", "empty", "other dataset", "no truth"])
def test_a_folder_without_usable_scenes_is_refused(tmp_path: Path, scenes: Path, wrong: str) -> None:
    folder = tmp_path / "data"
    if wrong == "file":
        folder.write_text("a file")
    elif wrong != "missing":
        folder.mkdir()
    if wrong == "no truth":
        folder = scenes / "test"
    with pytest.raises(InputError) as error:
        find(scenes if wrong == "other dataset" else folder, "middlebury" if wrong == "other dataset" else "hci")
    assert error.value.where == str(scenes if wrong == "other dataset" else folder)
    assert error.value.remedy


def test_a_scene_counts_once(tmp_path: Path, scenes: Path) -> None:
    """Two links lead to the same scene, and two to different scenes of the same name."""
    for link, target in (("a", "training/boxes"), ("b", "training/boxes"), ("c", "training/town"), ("d", "extra/town")):
        (tmp_path / link).symlink_to(scenes / target)
    dataset = find(tmp_path, "hci")
    assert [scene.name for scene in dataset.scenes] == ["a", "c", "d"]
    assert len(dataset.skipped) == 1
    assert "b: is the same scene as" in dataset.skipped[0]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_folder_is_named(tmp_path: Path) -> None:
    synth.write("planes", tmp_path / "planes", (24, 24), views=5)
    (tmp_path / "closed").mkdir(mode=0)
    assert "closed" in find(tmp_path, "hci").skipped[0]


def waves(shape: tuple[int, int] = (64, 80)) -> Scene:
    """Return a scene whose images are a known function of position."""
    y, x = np.indices(shape)
    pixels = 0.5 + 0.4 * np.sin(x / 9) * np.cos(y / 7)
    return Scene(pixels, [pixels, pixels], [(-2, 0), (0, -2)], ground_truth=x + 100.0 * y)


def test_barrel_distortion_moves_points_as_the_division_model_says() -> None:
    scene = waves()
    distorted = changes.changed(scene, changes.barrel(0.125))
    height, width = scene.shape
    y, x = np.indices(distorted.shape)
    y, x = y - (distorted.shape[0] - 1) / 2, x - (distorted.shape[1] - 1) / 2
    stretch = 1 / (1 - 0.125 / height**2 * (x**2 + y**2))
    v, u = (height - 1) / 2 + y * stretch, (width - 1) / 2 + x * stretch
    expected = 0.5 + 0.4 * np.sin(u / 9) * np.cos(v / 7)
    np.testing.assert_allclose(distorted.reference, expected, atol=2e-3)
    np.testing.assert_allclose(distorted.targets[1], expected, atol=2e-3)
    assert distorted.ground_truth is not None
    np.testing.assert_array_equal(distorted.ground_truth // 100, np.round(v))  # that of the nearest pixel
    assert min(v.min(), u.min(), height - 1 - v.max(), width - 1 - u.max()) >= 0  # cropped to the known pixels
    assert 0.85 * height < distorted.shape[0] < height
    np.testing.assert_array_equal(distorted.baselines, scene.baselines)
    same_frame = changes.changed(scene, changes.barrel(0))
    assert same_frame.shape == distorted.shape
    v, u = (height - 1) / 2 + y, (width - 1) / 2 + x
    np.testing.assert_allclose(same_frame.reference, 0.5 + 0.4 * np.sin(u / 9) * np.cos(v / 7), atol=2e-3)


def test_noise_is_relative_to_the_shortest_baseline() -> None:
    views = np.random.default_rng(0).random((81, 4, 4))
    steps = [(3.0 * u, 3.0 * v) for v in range(-4, 5) for u in range(-4, 5) if (u, v) != (0, 0)]  # shortest: 3
    grid = Scene(views[0], views[1:], steps)
    noisy = changes.changed(grid, changes.baseline_noise(0.05, "a scene"))
    by_name = dict(zip(noisy.target_names, noisy.baselines, strict=True))
    moved = np.array([by_name[name] for name in grid.target_names]) - grid.baselines
    assert 0.12 < moved.std() < 0.18
    again = changes.changed(grid, changes.baseline_noise(0.05, "a scene"))
    np.testing.assert_array_equal(again.baselines, noisy.baselines)
    other = changes.changed(grid, changes.baseline_noise(0.05, "another"))
    assert np.abs(other.baselines - noisy.baselines).max() > 0.01
    pixels = dict(zip(noisy.target_names, noisy.targets, strict=True))
    assert all(np.array_equal(pixels[n], t) for n, t in zip(grid.target_names, grid.targets, strict=True))


def test_scale_ratio_starts_at_one_and_agrees_with_simulation() -> None:
    for exponent in scale_ratio.SPECTRA.values():
        found = scale_ratio.ratios(exponent, [1e-3, 1.0, 4.0], pixels=64, samples=40).record
        assert found["ratio"]["0.001"] == pytest.approx(1, abs=1e-3)  # without a filter J'_A = J'_B = g^2
        for sigma, value in found["ratio"].items():
            assert found["simulated"][sigma] == pytest.approx(value, rel=0.1)


def test_scale_ratio_of_white_noise_far_out() -> None:
    """For large sigma, J'_A tends to P and the power of J'_B to P E h^2, a Gaussian integral for white noise."""
    sigma = 6.0
    s0, s1 = scale_ratio.SIGMA_0**2, scale_ratio.SIGMA_0**2 + sigma**2
    found = scale_ratio.ratios(0, [sigma], pixels=256, samples=1).record["ratio"]["6.000"]
    # The integral of w_x^2 exp(-s |w|^2) over the plane is proportional to s^-2; for s0, [-pi, pi] cuts off 4 % of it.
    assert found == pytest.approx((s1 / s0) ** 2, rel=0.1)


@pytest.mark.parametrize("exponent", scale_ratio.SPECTRA.values())
def test_scale_ratio_does_not_depend_on_the_grid(exponent: float) -> None:
    """Steep spectra have much of their power in the few cells around zero, where a coarse grid could go wrong."""
    sigmas = [1.0, 2.828, 5.657]
    coarse, fine = (scale_ratio.ratios(exponent, sigmas, n, samples=1).record["ratio"] for n in (128, 512))
    for sigma in coarse:
        assert coarse[sigma] == pytest.approx(fine[sigma], rel=0.02)


def test_own_files_are_overwritten_and_a_users_are_not(tmp_path: Path) -> None:
    outputs.write(tmp_path, {"report.md": b"one", "results.json": b"{}"})
    outputs.write(tmp_path, {"report.md": b"two"}, keep=["results.json"])
    assert (tmp_path / "report.md").read_bytes() == b"two"
    (tmp_path / "report.md").write_bytes(b"two, with my remarks")
    (tmp_path / "thesis.md").write_bytes(b"mine")
    for name in ("report.md", "thesis.md"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(InputError) as error:
            outputs.write(tmp_path, {"results.json": b"[]", name: b"new"})
        assert error.value.where == str(tmp_path / name)
        assert (tmp_path / name).read_bytes() == before
        assert (tmp_path / "results.json").read_bytes() == b"{}"  # the other file was not written either


def test_obsolete_own_files_are_removed_and_a_users_are_not(tmp_path: Path) -> None:
    outputs.write(tmp_path, {"old.csv": b"1", "edited.csv": b"2", "kept.csv": b"3"})
    (tmp_path / "edited.csv").write_bytes(b"2, with a remark")
    (tmp_path / "mine.csv").write_bytes(b"4")
    outputs.write(tmp_path, {"new.csv": b"5"}, keep=["kept.csv"])
    left = {path.name for path in tmp_path.glob("*.csv")}
    assert left == {"new.csv", "kept.csv", "edited.csv", "mine.csv"}


def test_writing_recovers_from_an_interruption(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs.write(tmp_path, {"report.md": b"one"})

    def cut(folder: Path, files: object) -> None:
        (folder / "report.md").write_bytes(b"two")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(outputs, "write_files", cut)
        with pytest.raises(KeyboardInterrupt):
            outputs.write(tmp_path, {"report.md": b"two", "alpha.csv": b"2"})
    outputs.write(tmp_path, {"report.md": b"three", "alpha.csv": b"3"})
    assert (tmp_path / "report.md").read_bytes() == b"three"


@pytest.mark.parametrize("content", ["[]", "{}", "not json", json.dumps({"format": "other", "files": {}})])
def test_a_manifest_of_something_else_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(InputError) as error:
        outputs.write(tmp_path, {"report.md": b"one"})
    assert error.value.where == str(tmp_path / "manifest.json")
    assert (tmp_path / "manifest.json").read_text() == content


def test_cells() -> None:
    row = {"rmse": 0.25, "alphas": [0.5, 1.0], "by_alpha": {"0.5": 0.3}}
    columns = [Column("rmse", "RMSE"), Column("alphas", "alphas", "list"), Column("by_alpha|0.5", "0.5", ".1f")]
    assert [cell(column, row) for column in [*columns, Column("paper", "paper")]] == ["0.2500", "0.5, 1", "0.3", ""]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_can_be_loaded(name: str) -> None:
    experiment = load(name)
    assert isinstance(experiment, Experiment)
    assert {experiment.needs, *experiment.also_uses} <= {None, *KINDS}
    assert experiment.title
    assert not experiment.paper.endswith(".")  # the report adds it


def test_former_names_lead_to_experiments() -> None:
    assert set(FORMER_NAMES.values()) <= set(EXPERIMENTS)
    assert not set(FORMER_NAMES) & set(EXPERIMENTS)


def test_no_experiment_belongs_to_two_groups() -> None:
    members = [name for group in GROUPS.values() for name in group]
    assert sorted(members) == sorted(EXPERIMENTS)
    assert not set(GROUPS) & set(EXPERIMENTS)
