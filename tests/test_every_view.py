"""A map for every view: the geometry, the maps, what they say about each other, and the folder."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numba.core import event

import gradcon
from gradcon import Camera, EveryView, InputError, Scene, estimate_views, read_views, synth
from gradcon.engines.cpu.sweep.differences import smallest_difference
from gradcon.methods.every_view import estimation
from gradcon.methods.every_view.carrying import carried, filled
from gradcon.methods.every_view.consistency import settled, surer
from gradcon.methods.every_view.estimation import _wanted
from gradcon.methods.every_view.evidence import Evidence, Witness, evidence_of_map
from gradcon.methods.every_view.relations import Relation, relation
from gradcon.result.every_view import place_of
from gradcon.scene.variants import seen_from
from gradcon.synth.raycast import depth
from gradcon.synth.rendering import Shot, shoot

SIZE = (64, 96)
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def shot() -> Shot:
    return shoot("planes", (96, 96), 9, 9, 0)


@pytest.fixture(scope="module")
def every(shot: Shot) -> EveryView:
    return estimate_views(shot.scene, engine="cpu")


def command(*arguments: object) -> str:
    """Run gradcon as a user does; return what it prints."""
    words = [sys.executable, "-m", "gradcon", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def cameras(shot: Shot) -> dict[str, Camera]:
    return dict(zip(shot.scene.metadata["cameras"], shot.cameras, strict=True))


def true_depth(shot: Shot, view: str) -> np.ndarray:
    return depth(shot.world.surfaces, cameras(shot)[view], shot.scene.shape)


def hidden_from(shot: Shot, view: str) -> np.ndarray:
    """From how many other views something nearer hides each pixel, by rays through the true world."""
    camera, Z = cameras(shot)[view], true_depth(shot, view)
    height, width = Z.shape
    y, x = np.indices(Z.shape, dtype=np.float64)
    pixels = np.stack([x.ravel(), y.ravel(), np.ones(x.size)])
    points = camera.R.T @ (np.linalg.inv(camera.K) @ pixels * Z.ravel() - camera.t[:, None])
    count = np.zeros(Z.size, int)
    for name, other in cameras(shot).items():
        if name != view:
            u, v, z = other.K @ (other.R @ points + other.t[:, None])
            inside = (u / z > -0.5) & (u / z < width - 0.5) & (v / z > -0.5) & (v / z < height - 0.5)
            origin = -(other.R.T @ other.t)[:, None]
            nearest = np.min([surface.depth(origin, points - origin) for surface in shot.world.surfaces], axis=0)
            count += inside & (nearest < 1 - 1e-3)
    return count.reshape(Z.shape)


@pytest.mark.parametrize("name", ["planes", "rotated"])
def test_a_scene_seen_from_a_target_has_that_cameras_depth(name: str) -> None:
    """The true depth of a view, in the scene seen from it, lands where the other cameras see it."""
    shot = shoot(name, SIZE, 5, 5, 1)
    for view in shot.scene.target_names[:2]:
        scene, camera = seen_from(shot.scene, view), cameras(shot)[view]
        assert scene.calibration is not None
        unit = 1e3 if name == "planes" else 1.0  # millimetres
        w = scene.calibration.disparity(unit * true_depth(shot, view))
        for other in scene.target_names:
            there = relation(scene, other)
            assert there is not None
            x, y = np.float32(50), np.float32(30)
            found = there.seen(x, y, w[30, 50])
            Z = true_depth(shot, view)[30, 50]
            point = camera.R.T @ (np.linalg.inv(camera.K) @ (x, y, 1) * Z - camera.t)
            seen = cameras(shot)[other]
            u, v, z = seen.K @ (seen.R @ point + seen.t)
            np.testing.assert_allclose((found.u, found.v), (u / z, v / z), atol=2e-2)
            expected = scene.calibration.product / (unit * z) - scene.calibration.offset
            np.testing.assert_allclose(found.w, expected, atol=2e-3)


def test_seen_from_a_target_keeps_the_pixels_and_comes_back(shot: Shot) -> None:
    scene, view = shot.scene, shot.scene.target_names[3]
    there = seen_from(scene, view)
    assert there.target_names.count(scene.reference_name) == 1
    np.testing.assert_array_equal(there.colour, np.moveaxis(scene.colours[4], 0, -1))
    assert np.shares_memory(there.colour, scene.colours)
    back = seen_from(there, scene.reference_name)
    assert back.target_names == scene.target_names
    np.testing.assert_array_equal(back.colours, scene.colours)
    np.testing.assert_allclose(back.baselines, scene.baselines)
    assert back.calibration is not None
    assert scene.calibration is not None
    np.testing.assert_allclose(back.calibration.K, scene.calibration.K)


def test_the_camera_of_a_turned_view_is_recovered() -> None:
    shot = shoot("rotated", SIZE, 5, 5, 2)
    view = shot.scene.target_names[0]
    place = place_of(shot.scene, view)
    true = cameras(shot)[view]
    assert place.camera is not None
    for part in "KRt":
        np.testing.assert_allclose(getattr(place.camera, part), getattr(true, part), atol=1e-6)


def test_a_nearer_surface_hides_what_is_behind_it_when_a_map_is_carried() -> None:
    w = np.zeros((5, 20), np.float32)
    w[:, 8:12] = 4
    there = carried(w, Relation(np.eye(3), np.array([1.0, 0, 0]), 0.0))
    assert (there[:, 12:16] == 4).all()
    assert np.isnan(there[:, 8:12]).all()  # what the surface hid from the first view
    assert (there[:, :8] == 0).all()
    assert (filled(there)[:, 8:12] == 0).all()  # the farther neighbour


def step_scene(edge: int) -> np.ndarray:
    """A map of a background and of a foreground that ends at `edge`."""
    w = np.zeros((16, 48), np.float32)
    w[:, 16:edge] = 4
    return w


def test_witnesses_tell_a_refuted_pixel_from_a_hidden_one() -> None:
    deviation = np.full((16, 48), 0.01, np.float32)
    right = Relation(np.eye(3), np.array([1.0, 0, 0]), 0.0)
    other = np.roll(step_scene(32), 4, axis=1)  # the other view sees the foreground 4 pixels to the right
    seen = evidence_of_map(step_scene(34), deviation, [Witness(right, other, deviation)], 1.0)
    assert seen.contradicting[8, 32:34].all()  # two columns too wide: the other view looks through them
    assert seen.confirming[8, 16:32].all()
    assert seen.hidden[8, 34:36].all()  # background behind the foreground there
    assert seen.confirming[8, 36:40].all()
    assert seen.witnesses[8, 47] == 1


def test_a_foreground_that_is_too_wide_gives_way() -> None:
    deviation = np.full((16, 48), 0.01, np.float32)
    witnesses, claims = [], []
    for b in np.array([(-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0)], np.float64):
        there = Relation(np.eye(3), b, 0.0)
        other = filled(carried(step_scene(32), there))
        witnesses.append(Witness(there, other, deviation))
        claims.append(carried(other, Relation(np.eye(3), -b, 0.0)))
    decided = settled(step_scene(34), deviation, claims, witnesses, 1.0)
    np.testing.assert_allclose(decided.w[8], step_scene(32)[8], atol=0.01)
    assert decided.changed[8].sum() == 2


def test_the_uncertainty_listens_to_other_views_and_to_the_neighbours() -> None:
    shape = (9, 9)
    everyone = Evidence(np.full(shape, 4.0), np.zeros(shape), np.zeros(shape), np.zeros(shape))
    deviation = np.full(shape, 0.1, np.float32)
    np.testing.assert_allclose(surer(deviation, everyone), deviation, rtol=1e-5)
    deviation[4, 4] = 0.001
    assert surer(deviation, everyone)[4, 4] > 0.05  # sure of itself, among pixels that are not
    doubted = everyone._replace(contradicting=np.full(shape, 5.0))
    np.testing.assert_allclose(surer(deviation, doubted), 4 * surer(deviation, everyone), rtol=1e-5)


def test_every_view_gets_a_map_that_is_about_as_good_as_the_references(shot: Shot, every: EveryView) -> None:
    assert list(every.results) == [shot.scene.reference_name, *shot.scene.target_names]
    assert shot.scene.calibration is not None
    errors = {}
    for view, result in every.results.items():
        truth = shot.scene.calibration.disparity(1e3 * true_depth(shot, view))
        errors[view] = float(np.median(np.abs(result.disparity - truth)))
        assert np.isfinite(result.disparity).all()
        assert result.scene.reference_name == view
    assert max(errors.values()) < 0.03


@pytest.mark.slow
def test_occluded_pixels_are_found() -> None:
    shot = shoot("planes", (192, 192), 9, "cross", 0)
    every = estimate_views(shot.scene, engine="cpu")
    found, true = [], []
    for view in list(every.results)[::5]:
        found.append(every.agreement[view].occluded)
        true.append(hidden_from(shot, view) > 0)
    hits = np.sum(np.logical_and(found, true))
    assert hits / np.sum(found) > 0.8  # precision
    assert hits / np.sum(true) > 0.8  # recall


def test_agreement_counts_views(every: EveryView) -> None:
    for result, said in zip(every.results.values(), every.agreement.values(), strict=True):
        total = said.confirming + said.contradicting + said.unseeing
        assert (total == said.views).all()
        assert (said.hidden <= said.unseeing).all()
        whole = result.uncertainty.max()
        assert (result.uncertainty[said.unknown] == whole).all()


def test_the_comparison_improves_the_map_and_its_uncertainty(shot: Shot, every: EveryView) -> None:
    alone = gradcon.estimate(shot.scene, engine="cpu")
    together, truth = every.results[shot.scene.reference_name], shot.scene.ground_truth
    assert alone.metrics is not None
    assert together.metrics is not None
    assert together.metrics["rmse"] <= alone.metrics["rmse"]
    before, after = (gradcon.evaluate_uncertainty(r.disparity, r.uncertainty, truth) for r in (alone, together))
    assert after["rmse"][4] < before["rmse"][4]  # with a fifth dropped


def test_disparities_do_not_depend_on_what_else_is_asked_for(shot: Shot, every: EveryView) -> None:
    view = shot.scene.target_names[-1]
    one = estimate_views(shot.scene, references=[view], engine="cpu")
    np.testing.assert_array_equal(one.results[view].disparity, every.results[view].disparity)


@pytest.mark.slow
def test_the_methods_of_the_paper_work_too() -> None:
    scene = synth.render("planes", size=(32, 32), views=3)
    every = estimate_views(scene, gradcon.Options("gcm", solves=2), engine="cpu")
    assert len(every.agreement) == 3


def test_wrong_names_are_refused() -> None:
    scene = synth.render("planes", size=(32, 32), views=3)
    with pytest.raises(InputError, match="'nope' is not a view of planes"):
        estimate_views(scene, references=["nope"])
    with pytest.raises(InputError, match="not a list of names"):
        estimate_views(scene, references=[])
    twice = synth.render("planes", size=(32, 32), views=3)
    twice.target_names = [twice.target_names[0]] * 2
    with pytest.raises(InputError, match="name of several views"):
        estimate_views(twice)


def test_names_are_compared_in_a_time_that_is_linear_in_the_views() -> None:
    compared = 0

    class Name(str):
        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    scene = synth.render("planes", size=(32, 32), views=3)
    scene.target_names = [Name(f"view {k}") for k in range(1000)]
    asked = [Name(f"view {k}") for k in range(500)]
    assert _wanted(scene, None) == [scene.reference_name, *scene.target_names]
    assert _wanted(scene, asked) == asked
    assert compared < 10_000


def test_what_is_compiled_late_is_announced(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """As for views whose brightness is compensated, if their kernels have not been compiled before."""

    def compiled_late(*_: object, **__: object) -> None:
        event.start_event("numba:compile", {"dispatcher": smallest_difference})
        event.end_event("numba:compile")
        raise InputError("the look", "ends here")

    monkeypatch.setattr(estimation, "compile_for", lambda *_: None)
    monkeypatch.setattr(estimation, "prepare_where_it_fits", compiled_late)
    scene = synth.render("planes", size=(32, 32), views=3)
    for progress, said in ((True, 1), (False, 0)):
        with pytest.raises(InputError, match="ends here"):
            estimate_views(scene, engine="cpu", progress=progress)
        assert capsys.readouterr().err.count("compiling") == said


@pytest.mark.slow
def test_a_view_of_something_else_is_left_out_by_name() -> None:
    """A camera that looks elsewhere shares no pixel with the others."""
    shot = shoot("rotated", SIZE, 5, 5, 0)
    away = shot.cameras[1]
    turn = np.array([[np.cos(1.2), 0, np.sin(1.2)], [0, 1, 0], [-np.sin(1.2), 0, np.cos(1.2)]])
    others = [replace(away, R=turn @ away.R, t=turn @ away.t), *shot.cameras[2:]]
    images = [np.moveaxis(view, 0, -1) for view in shot.scene.colours]
    names = ["elsewhere", "b", "c", "d"]
    scene = Scene.from_cameras(images[0], images[1:], [shot.cameras[0], *others], target_names=names, name="rig")
    with pytest.warns(UserWarning, match=r"elsewhere: .* gets no map"):
        every = estimate_views(scene, engine="cpu")
    assert sorted(every.results) == ["b", "c", "d", "reference"]


def test_the_folder_is_read_back_and_checked(every: EveryView, tmp_path: Path) -> None:
    names = list(every.results)[:2]
    few = replace(
        every,
        results={name: every.results[name] for name in names},
        agreement={name: every.agreement[name] for name in names},
    )
    folder = few.save(tmp_path / "views")
    saved = read_views(folder)
    assert list(saved.views) == names
    for name, view in saved.views.items():
        np.testing.assert_array_equal(view.disparity, every.results[name].disparity)
        np.testing.assert_array_equal(view.uncertainty, every.results[name].uncertainty)
        np.testing.assert_allclose(view.place.m, every.places[name].m)
        assert view.agreement is not None
        np.testing.assert_array_equal(view.agreement.hidden, every.agreement[name].hidden)
    with pytest.raises(InputError, match="holds the results of several views"):
        gradcon.read_map(folder)
    only = replace(few, results={names[0]: few.results[names[0]]})
    only.save(folder)
    assert not (folder / names[1]).exists()  # the earlier result of a view that is no longer listed
    listed = json.loads((folder / "views.json").read_text())
    listed["views"][0]["folder"] = "../elsewhere"
    (folder / "views.json").write_text(json.dumps(listed))
    with pytest.raises(InputError, match="elsewhere"):
        read_views(folder)


def test_a_changed_result_is_refused(every: EveryView, tmp_path: Path) -> None:
    name = next(iter(every.results))
    folder = replace(every, results={name: every.results[name]}).save(tmp_path / "views")
    with open(folder / name / "result.json", "a", encoding="utf-8") as file:
        file.write("\n")
    with pytest.raises(InputError, match=r"not the result that views\.json lists"):
        read_views(folder)
    with pytest.raises(InputError, match=r"holds no views\.json"):
        read_views(tmp_path)


def test_the_command_writes_a_folder_for_each_view(tmp_path: Path) -> None:
    synth_folder, out = tmp_path / "scene", tmp_path / "out"
    command("synth", "planes", "--size", 32, "--views", 3, "--out", synth_folder)
    assert "3 maps" in command("estimate", synth_folder, "--every-view", "--out", out)
    views = read_views(out).views
    assert len(views) == 3
    first = next(iter(views.values())).folder
    assert "RMSE" in command("evaluate", first, synth_folder)
