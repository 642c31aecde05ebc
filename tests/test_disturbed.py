"""The experiment `disturbed`: what each change does to the views, and a whole run on small scenes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gradcon import Scene, synth
from gradcon.cli import main
from gradcon.errors import InputError
from gradcon.experiments import changes, disturbed
from gradcon.experiments.changes import Change, changed
from gradcon.experiments.peer_methods import missing_libraries

VIEWS = 3


@pytest.fixture(scope="module")
def scene() -> Scene:
    """Smooth colours around a middle grey, the same in all views, so that every effect can be measured."""
    y, x = np.indices((96, 120))
    wave = np.sin(x / 9) * np.cos(y / 7)
    image = np.stack([128 + 40 * wave, 128 - 30 * wave, 100 + 50 * wave], axis=-1).round().astype(np.uint8)
    return Scene(image, [image] * (VIEWS - 1), [(-1, 0), (0, -1)], ground_truth=np.zeros(image.shape[:2]))


RECORDED: list[Change] = [
    changes.noise(5, "a"),
    changes.jpeg(50),
    changes.gains(0.15, "a"),
    changes.vignetting(0.1),
    changes.shifts(1.0, "a"),
    changes.turns(0.8, "a"),
]
EVERY = [*RECORDED, changes.baseline_noise(0.02, "a")]


@pytest.mark.parametrize("change", EVERY, ids=lambda change: change["kind"])
def test_a_change_keeps_colours_and_truth_and_can_be_repeated(scene: Scene, change: Change) -> None:
    found, again = changed(scene, change), changed(scene, json.loads(json.dumps(change)))
    assert found.colours.dtype == np.uint8
    assert found.colours.shape == scene.colours.shape
    np.testing.assert_array_equal(found.colours, again.colours)
    np.testing.assert_array_equal(found.baselines, again.baselines)
    np.testing.assert_array_equal(found.ground_truth, scene.ground_truth)
    assert found.target_names == scene.target_names


@pytest.mark.parametrize("change", RECORDED, ids=lambda change: change["kind"])
def test_a_change_works_on_grey_views_too(scene: Scene, change: Change) -> None:
    grey = Scene(scene.reference, scene.targets, scene.baselines)
    found = changed(grey, change)
    assert found.colours.shape == (VIEWS, 1, *scene.shape)
    assert 0 < np.abs(found.targets - grey.targets).max() < 0.5


def test_noise_has_its_deviation_in_every_channel_and_view(scene: Scene) -> None:
    added = changed(scene, changes.noise(5, "a")).colours.astype(float) - scene.colours
    assert np.std(added, axis=(2, 3)) == pytest.approx(5, rel=0.05)
    correlated = np.corrcoef(added.reshape(VIEWS * 3, -1)) - np.eye(VIEWS * 3)
    assert np.abs(correlated).max() < 0.05


def test_the_name_seeds_the_random_numbers(scene: Scene) -> None:
    assert (changed(scene, changes.noise(5, "a")).colours != changed(scene, changes.noise(5, "b")).colours).any()


def test_stronger_compression_loses_more(scene: Scene) -> None:
    lost = [np.abs(changed(scene, changes.jpeg(q)).colours.astype(float) - scene.colours).mean() for q in (90, 50, 20)]
    assert 0 < lost[0] < lost[1] < lost[2]


def test_every_view_has_a_gain_of_its_own(scene: Scene) -> None:
    ratio = changed(scene, changes.gains(0.15, "a")).colours / scene.colours
    gains = ratio.mean(axis=(1, 2, 3))
    np.testing.assert_allclose(ratio, np.broadcast_to(gains[:, None, None, None], ratio.shape), atol=0.02)
    assert np.ptp(gains) > 0.01
    assert np.abs(gains - 1).max() <= 0.15
    assert abs(gains[0] - 1) > 0.01  # the reference's too


def test_vignetting_darkens_the_corners(scene: Scene) -> None:
    ratio = changed(scene, changes.vignetting(0.1)).colours / scene.colours
    corners, middle = ratio[:, :, [0, 0, -1, -1], [0, -1, 0, -1]], ratio[:, :, 48, 60]
    np.testing.assert_allclose(corners, 0.9, atol=0.01)
    np.testing.assert_allclose(middle, 1, atol=0.01)


@pytest.mark.parametrize(
    "change", [changes.shifts(1.0, "a"), changes.turns(0.8, "a")], ids=lambda change: change["kind"]
)
def test_each_target_moves_differently_and_not_too_far(scene: Scene, change: Change) -> None:
    """The slopes of the image tell how far it has moved: along x, along y, and around its middle."""
    reference, *targets = changed(scene, change).colours[:, 0].astype(float)
    np.testing.assert_array_equal(reference, scene.colours[0, 0])  # the truth belongs to it
    inner = np.s_[8:-8, 8:-8]
    down, across = np.gradient(reference)
    y, x = np.indices(scene.shape) - np.array([47.5, 59.5])[:, None, None]
    slopes = np.stack([part[inner].ravel() for part in (across, down, x * down - y * across)], axis=1)
    moved = np.array(
        [np.linalg.lstsq(slopes, (reference - target)[inner].ravel(), rcond=None)[0] for target in targets]
    )
    for target, motion in zip(targets, moved, strict=True):
        assert np.abs((reference - target)[inner].ravel() - slopes @ motion).mean() < 0.6  # 8 bits, and curvature
    most, none = (moved[:, 2:], moved[:, :2]) if change["kind"] == "turns" else (moved[:, :2], 60 * moved[:, 2:])
    limit = np.deg2rad(0.8) if change["kind"] == "turns" else 1.0
    assert np.abs(none).max() < 0.03
    assert 0.3 * limit < np.abs(most).max() <= 1.02 * limit
    assert np.abs(most[0] - most[1]).max() > 0.1 * limit


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("disturbed")
    for seed, name in enumerate(("cotton", "town")):
        synth.write("planes", root / "hci" / name, (48, 48), views=5, seed=seed)
    command = ["reproduce", "--hci", str(root / "hci"), "--out", str(root / "out"), "--only", "disturbed", "--quick"]
    assert main([*command, "--engine", "cpu", "--workers", "1"]) == 0
    return root / "out"


@pytest.mark.slow
def test_a_run_on_small_scenes(out: Path) -> None:
    found = json.loads((out / "results.json").read_text())
    table = found["tables"]["disturbed"]
    assert list(table) == [key for key, each in disturbed.DISTURBANCES.items() if each.quick]
    flow = {"flow"} if missing_libraries() is None else set()
    for key, row in table.items():
        assert set(row) == {"label", "sweep", "gcm"} | (set() if key.endswith("aligned") else flow)
        for method in set(row) - {"label"}:
            assert list(row[method]["scenes"]) == ["cotton"]  # a quick run takes one scene
            assert row[method]["rmse"] == row[method]["scenes"]["cotton"] > 0
    assert table["noise-15"]["sweep"]["rmse"] > table["clean"]["sweep"]["rmse"]
    assert len({row["sweep"]["rmse"] for row in table.values()}) == len(table)  # every disturbance changes something
    assert "| JPEG, quality 50 |" in (out / "report.md").read_text()
    assert all(run["failed"] is None for run in found["runs"].values())


@pytest.mark.slow
def test_claims_name_what_is_lost(out: Path) -> None:
    claims = json.loads((out / "results.json").read_text())["experiments"]["disturbed"]["claims"]
    assert "gains of up to 30 %" in claims[0]["measured"]
    assert len(claims) == (2 if missing_libraries() is None else 1)


def test_the_flow_is_left_out_with_the_reason_where_it_cannot_run(monkeypatch: pytest.MonkeyPatch) -> None:
    error = InputError("peers", "OpenCV is not installed", "install it")
    monkeypatch.setattr(disturbed, "missing_libraries", lambda: error)
    assert set(disturbed._entrants(align=False, solves=1)) == {"sweep", "gcm"}
    row = {"label": "none", "sweep": {"rmse": 0.1, "badpix_007": 1.0, "scenes": {"cotton": 0.1}}}
    assert error.problem in disturbed._notes({"hci": {"clean": row}})[-1]
    assert not [column for column in disturbed._columns() if "flow" in column.path]
