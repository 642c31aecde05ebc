"""The sweep as a method among others: videos, recorded weights, all kinds of rigs, commands and pages."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine_cases import needs_compiler
from gradcon import Options, Result, Scene, estimate, estimate_many, synth
from gradcon.cli import main
from gradcon.engines import Host, create_sweep
from gradcon.engines.cuda.sweep import CudaSweep
from gradcon.engines.reference_sweep import ReferenceSweep
from gradcon.engines.sweep_views import views_of
from gradcon.io.images import png
from gradcon.io.pfm import read_pfm
from gradcon.methods.sweep.known_map import moved_edges
from gradcon.methods.sweep.passes import Level
from gradcon.methods.sweep.settings import FIRST
from gradcon.result.stopped import StopReason
from gradcon.scene import Camera
from layered_scenes import CROSS, GRID, Layer, edge, layered, plane
from simt import EmulatedGpu
from sweep_cases import Waves

SWEEP = Options(method="sweep")
FRAMES = 5


def sweep(scene: Scene, **more: Any) -> Result:
    return estimate(scene, SWEEP, **({"engine": "cpu", "check_directions": False} | more))


def rms(result: Result) -> float:
    assert result.scene.ground_truth is not None
    return float(np.sqrt(np.mean((result.disparity - result.scene.ground_truth) ** 2)))


def disc(x: float, near: float = 1.1, far: float = -0.7, radius: float = 22.0, seed: int = 11) -> Scene:
    """Return a disc, with its texture, in front of a plane."""
    texture, (middle, square) = Waves(seed + 1), (48, radius**2)
    front = Layer(near, lambda u, v: texture(u - x, v), lambda u, v: (u - x) ** 2 + (v - middle) ** 2 < square)
    return layered([Layer(far, Waves(seed)), front], CROSS)


# ---- A map to start from ----


@pytest.mark.parametrize("speed", [0.25, 1.0])
def test_frames_of_a_slow_video_are_as_good_as_stills_and_take_fewer_passes(speed: float) -> None:
    """Errors at moving edges must not add up from frame to frame."""
    frames = [disc(40 + speed * k) for k in range(FRAMES)]
    stills = [rms(result) for result in estimate_many(frames, SWEEP, engine="cpu")]
    results = list(estimate_many(frames, SWEEP, initial="previous", engine="cpu"))
    assert [len(result.history) for result in results] == [3] + [2] * (FRAMES - 1)
    assert np.mean([rms(result) for result in results]) < 1.1 * np.mean(stills)
    assert rms(results[-1]) < 1.25 * stills[-1]


@pytest.mark.parametrize(("near", "far"), [(3.0, 2.2), (2.5, -3.0), (-2.0, -3.0)])
def test_a_map_of_another_scene_is_not_believed(near: float, far: float) -> None:
    scene, other = disc(30, near, far, seed=5), sweep(disc(60)).disparity
    result = sweep(scene, initial=other)
    assert result.stopped.reason is StopReason.SWEPT_ANEW
    assert "did not fit" in str(result.stopped)
    np.testing.assert_array_equal(result.disparity, sweep(scene).disparity)


def test_a_map_that_fits_is_kept() -> None:
    scene = disc(40)
    result = sweep(scene, initial=sweep(scene).disparity)
    assert result.stopped.reason is StopReason.SWEPT
    assert [row.step_mean is not None for row in result.history] == [True, True]
    assert rms(result) < 1.15 * rms(sweep(scene))


def test_an_object_that_comes_into_the_picture_is_found() -> None:
    """It lies out of reach of the bands around the map of the plane behind it."""
    scene = disc(60, 2.0, -2.7, radius=10.0)
    result = sweep(scene, initial=sweep(plane(-2.7, CROSS)).disparity)
    assert len(result.history) == 2
    inside = scene.ground_truth == 2.0
    assert np.mean(np.abs(result.disparity[inside] - 2.0) < 0.2) > 0.9


ENGINES = {
    "cpu": lambda views: create_sweep("cpu", views),
    "emulated cuda": lambda views: CudaSweep(views, EmulatedGpu()),
}


@pytest.mark.parametrize("name", ["cpu", pytest.param("emulated cuda", marks=[pytest.mark.slow, needs_compiler])])
def test_engines_choose_the_same_edges(name: str) -> None:
    """The true map, moved by two pixels, is moved back."""
    scene = disc(40)
    truth = scene.ground_truth.astype(np.float32)
    moved = moved_edges(np.roll(truth, 2, axis=1), 3)
    noise = np.full(scene.shape, 0.05, np.float32)
    chosen = []
    for make in (ENGINES[name], ReferenceSweep):
        engine = make(views_of(scene))
        chosen.append(np.asarray(Level(engine, noise).choose(FIRST, moved)))
    assert np.mean(chosen[0] != chosen[1]) < 0.002
    assert np.mean(chosen[0] != truth) < 0.2 * np.mean(moved[1] != truth)


def test_without_a_map_nothing_has_changed_before_the_first_pass() -> None:
    history = sweep(disc(40)).history
    assert [row.kind for row in history] == ["pass"] * 3
    assert [row.step_mean is None for row in history] == [True, False, False]


@pytest.mark.parametrize("without", [None, "surface", "edges", "noise"])
def test_every_pass_is_planned(without: str | None) -> None:
    from gradcon.methods.sweep.run import minimise

    scene = disc(40)
    for initial in (None, sweep(scene).disparity):
        run = minimise(scene, Options(method="sweep", without=without), engine="cpu", initial=initial)
        assert len(run.plan) == len(run.history)


def test_smaller_copies_are_swept_by_the_same_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradcon.engines.cpu import sweep as cpu
    from gradcon.methods.look import look_at
    from gradcon.methods.sweep.run import minimise

    scene, options = disc(40), replace(SWEEP, noise=20 / 255)  # so much noise needs smaller copies
    look = look_at(scene, options, "cpu")
    engine = cpu.CpuSweep(views_of(scene), cpu.Threads(1))
    monkeypatch.setattr(cpu, "Threads", lambda: pytest.fail("threads were started"))
    run = minimise(scene, options, engine=engine, look=look)
    assert run.history[0].scales > (0,)


def test_a_callback_stops_between_passes() -> None:
    result = sweep(disc(40), callback=lambda row, w: row.solve == 2)
    assert len(result.history) == 2
    assert "solve" not in str(result.stopped)
    assert "2 passes" in repr(result)


# ---- Which views were trusted ----


def shares(result: Result) -> NDArray[np.float32]:
    """Return the shares, (passes, down, across, targets)."""
    assert result.weights is not None
    assert result.weights.scales.tolist() == [0]
    assert result.weights.after
    return result.weights.shares[:, :, :, 0]


def grey(scene: Scene) -> Scene:
    return Scene(scene.reference, list(scene.targets), scene.baselines, ground_truth=scene.ground_truth)


RIGS = {
    "cross": lambda: edge(0, CROSS),
    "grid": lambda: edge(30, GRID),
    "line": lambda: edge(90, [(-2, 0), (-1, 0), (1, 0), (2, 0)]),
    "grey": lambda: grey(edge(0, CROSS)),
    "turned": lambda: synth.render("rotated", size=(64, 64), views=9),
    "two views": lambda: plane(1.3, [(-1, 0)]),
}


@pytest.mark.parametrize("rig", RIGS)
def test_shares_add_up_where_a_view_sees_the_pixel(rig: str) -> None:
    scene = RIGS[rig]()
    result = sweep(scene, keep_weights=True)
    sums = shares(result).sum(axis=-1)
    assert shares(result).shape[0] == len(result.history)
    seen = sums > 0
    assert sums[seen] == pytest.approx(1, abs=0.02)
    if rig == "two views":  # what leaves the frame is seen by no other view
        assert 0 < np.mean(~seen) < 0.03
    else:
        assert seen.all()
    np.testing.assert_array_equal(result.disparity, sweep(scene).disparity)


def test_a_hidden_arm_is_hardly_trusted() -> None:
    """Just beside a nearer surface, the views that see that surface instead have the smallest share."""
    scene = edge(0, CROSS)
    result = sweep(scene, keep_weights=True)
    last, step = shares(result)[-1], result.weights.step
    column = (45 - step // 2) // step  # the edge is at 47.8
    hidden = scene.baselines[:, 0] < 0  # they see the far plane move to the left, under the near one
    rows = slice(len(last) // 4, -len(last) // 4)
    assert last[rows, column][:, hidden].sum(axis=-1).mean() < 0.05
    elsewhere = last[rows, (25 - step // 2) // step]
    assert elsewhere[:, hidden].sum(axis=-1).mean() > 0.15


def test_near_views_decide_in_the_first_pass() -> None:
    scene = edge(0, CROSS)
    first, *_, last = shares(sweep(scene, keep_weights=True))
    far = np.hypot(*scene.baselines.T) > 2
    assert first[..., far].sum(axis=-1).mean() < 0.2
    assert last[..., far].sum(axis=-1).mean() > 0.4


# ---- Turned cameras, and cameras that step forward ----


@pytest.mark.parametrize("engine", ["cpu", "reference"])
def test_turned_cameras(engine: str) -> None:
    scene = synth.render("rotated", size=(64, 64), views=9)
    result = sweep(scene, engine=engine)
    assert rms(result) < 0.03
    assert result.metrics is not None
    assert result.metrics["badpix_007"] < 3


def wall(camera: Camera, size: int = 96) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what a camera sees of a slanted wall, and the depth."""
    y, x = np.indices((size, size), dtype=float)
    rays = camera.R.T @ np.linalg.inv(camera.K) @ np.stack([x, y, np.ones_like(x)]).reshape(3, -1)
    normal, place = np.array([-0.3, 0.0, 1.0]), -camera.R.T @ camera.t
    far = (2.0 - normal @ place) / (normal @ rays)
    across, down, _ = (place[:, None] + far * rays).reshape(3, size, size)
    return np.moveaxis(Waves(11)(60 * across, 60 * down), 0, -1), far.reshape(size, size)


@pytest.mark.parametrize(
    ("steps", "typical", "wrong"),
    [([(0, 0, -0.1)], 0.01, 0.05), ([(0, 0, -0.1), (0, 0, 0.1), (-0.1, 0, -0.05), (0.1, 0, 0.05)], 0.005, 0.01)],
    ids=["forward", "all ways"],
)
def test_cameras_that_step_forward(steps: list[tuple[float, float, float]], typical: float, wrong: float) -> None:
    """The error of the depth is small, except near the epipole, where nothing moves, and at the unseen border."""
    K = np.array([[100.0, 0, 47.5], [0, 100.0, 47.5], [0, 0, 1]])
    cameras = [Camera.of(K, np.eye(3), t) for t in ((0, 0, 0), *steps)]
    (reference, depth), *targets = map(wall, cameras)
    scene = Scene.from_cameras(reference, [image for image, _ in targets], cameras)
    errors = np.nan_to_num(np.abs(sweep(scene).depth() - depth) / depth, nan=np.inf)[6:-6, 6:-6]
    assert np.median(errors) < typical
    assert np.mean(~(errors < 0.03)) < wrong


# ---- Commands ----


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synth.write("occlusion", tmp_path_factory.mktemp("scene") / "occlusion", (48, 56), views="cross")


def test_a_still_on_the_command_line(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    command = ["estimate", str(folder), "--out", str(out), "--method", "sweep", "--keep-weights", "--points"]
    assert main([*command]) == 0
    told = capsys.readouterr()
    assert "3 passes in" in told.out
    assert "pass 1 of 3: scale 0, 17 views, RMSE" in told.err
    assert "solve" not in told.out + told.err
    assert main([*command, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert [row["kind"] for row in summary["history"]] == ["pass"] * 3
    assert summary["history"][0]["step_mean"] is None
    assert main(["evaluate", str(out), str(folder), "--uncertainty", "--json"]) == 0
    assert "uncertainty" in json.loads(capsys.readouterr().out)
    assert main(["convert", str(out), str(tmp_path / "maps.npz")]) == 0
    with np.load(tmp_path / "maps.npz") as maps:
        np.testing.assert_array_equal(maps["disparity"], read_pfm(out / "disparity.pfm"))
    assert main(["report", str(out), "--out", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text()
    assert '<th scope="col">passes</th>' in page
    assert "Trusted views</h2>" in page


def test_a_video_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frames = [disc(40 + k) for k in range(3)]
    at = {(0, 0): 0} | {tuple(B): 1 + t for t, B in enumerate(frames[0].baselines)}
    for dx in (-1, 0, 1):
        view = tmp_path / "video" / f"cam_0_{1 - dx}"
        view.mkdir(parents=True)
        for k, frame in enumerate(frames):
            image = np.ascontiguousarray(np.moveaxis(frame.colours[at[dx, 0]], 0, -1))
            (view / f"{k}.png").write_bytes(png.encode(image))
    assert main(["estimate", str(tmp_path / "video"), "--out", str(tmp_path / "out"), "--method", "sweep"]) == 0
    told = capsys.readouterr()
    assert "7 passes in" in told.out
    assert "(3 of them for the first frame)" in told.out
    assert "frame 1: 2 passes in" in told.err
    listed = json.loads((tmp_path / "out" / "video.json").read_text())["frames"]
    assert [(row["solves"], row["kind"]) for row in listed] == [(3, "pass"), (2, "pass"), (2, "pass")]


@pytest.mark.slow
def test_a_batch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in range(3):
        synth.write("planes", tmp_path / "scenes" / f"scene{seed}", (32, 32), views=5, seed=seed)
    command = ["batch", str(tmp_path / "scenes"), "--out", str(tmp_path / "out"), "--method", "sweep", "--workers", "2"]
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["computed"], found["failed"]) == (3, 0)
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["reused"] == 3
    rows = list(csv.DictReader((tmp_path / "out" / "summary.csv").open()))
    assert [row["solves"] for row in rows] == ["3"] * 3
    assert all(float(row["rmse"]) < 0.1 for row in rows)
    assert "3 passes in" in (tmp_path / "out" / "index.html").read_text()


class Lagging(Host):
    """A device that answers before its work is done, like a GPU: its clock can be read only after a wait."""

    def __init__(self) -> None:
        self.begun = self.done = 0

    def mark(self) -> int:
        self.begun += 1
        return self.begun

    def wait(self) -> None:
        self.done = self.begun

    def elapsed(self, start: int, end: int) -> float:
        assert end <= self.done, "the clock was read before the device had got there"
        return 0.0


def test_the_clock_is_read_only_when_the_device_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = synth.render("planes", (40, 40), grid=3)
    bare = Scene(scene.reference, scene.targets, scene.baselines)  # a comparison with the truth would wait, too
    monkeypatch.setattr("gradcon.engines.cpu.sweep.CpuSweep.device", Lagging())
    assert len(estimate(bare, Options("sweep"), engine="cpu").history) == 3


def test_the_memory_of_a_large_scene_is_stated_before() -> None:
    from gradcon.engines.sweep import Views
    from gradcon.methods.sweep.run import forecast

    def views(height: int, width: int, count: int) -> Views:
        colours = np.broadcast_to(np.uint8(0), (count, 3, height, width))
        return Views(colours, 1 / 255, np.ones((count - 1, 3)), np.array([0, count - 1], np.int32))

    assert forecast(views(512, 512, 17)) == ""
    for size, measured in (((2048, 2048, 17), 1.7), ((3000, 4000, 9), 3.8)):
        stated = float(forecast(views(*size)).split("about ")[1].split(" GB")[0])
        assert stated == pytest.approx(measured, rel=0.15)
