"""Many scenes, one after the other: in order, ahead of time, and each started from the one before."""

import threading
from dataclasses import replace

import numpy as np
import pytest

from engine_cases import random_scene
from gradcon import InputError, Options, estimate, estimate_many, synth
from gradcon.engines.cuda import device as cuda_device
from gradcon.methods import loop, many
from waiting import PATIENCE

pytestmark = pytest.mark.slow


def video(frames, size=(40, 52)):
    return [synth.render("occlusion", size, grid=3, seed=0) for _ in range(frames)]


def test_estimate_many_is_estimate_one_after_the_other():
    scenes = [random_scene(seed=seed) for seed in range(3)]
    options = Options("gcm", solves=3)
    for scene, result in zip(scenes, estimate_many(iter(scenes), options, engine="cpu"), strict=True):
        np.testing.assert_array_equal(result.disparity, estimate(scene, options, engine="cpu").disparity)
        assert result.scene is scene


def test_a_frame_starts_from_the_one_before():
    scenes, options = video(3), Options("gcm", solves=4)
    alone = estimate(scenes[0], replace(options, solves=12), engine="cpu")
    chained = list(estimate_many(scenes, options, initial="previous", engine="cpu"))
    rmse = [result.history[-1].rmse for result in chained]
    assert rmse[2] < rmse[0]
    assert rmse[2] == pytest.approx(alone.history[-1].rmse, rel=0.05)
    assert [result.parameters["initial"] for result in chained] == [0.0, "a map", "a map"]


def test_estimate_many_takes_scenes_as_they_are_wanted():
    taken = []

    def scenes():
        for k in range(5):
            taken.append(k)
            yield random_scene(seed=k)

    results = estimate_many(scenes(), Options("gcm", solves=1), engine="cpu")
    next(results)
    assert len(taken) <= 3  # the one that is done, the one that is read ahead, and maybe one in between
    results.close()


def test_estimate_many_passes_on_what_goes_wrong():
    def scenes():
        yield random_scene()
        raise InputError("frame 1", "is torn", "repair it")

    results = estimate_many(scenes(), Options("gcm", solves=1), engine="cpu")
    next(results)
    with pytest.raises(InputError, match="frame 1: is torn"):
        next(results)
    with pytest.raises(InputError, match=r"^initial: 'last' is neither"):
        estimate_many([], initial="last")


def test_a_video_may_change_its_size():
    scenes = [random_scene((20, 30)), random_scene((24, 30))]
    results = list(estimate_many(scenes, Options("gcm", solves=1), initial="previous", engine="cpu"))
    assert [result.disparity.shape for result in results] == [(20, 30), (24, 30)]


def test_the_next_scene_is_read_while_one_is_computed(monkeypatch):
    asked = threading.Event()
    compute = loop.minimise

    def waiting(*arguments, **options):
        assert asked.wait(PATIENCE), "nobody asked for the next scene"
        return compute(*arguments, **options)

    def scenes():
        yield random_scene()
        asked.set()
        yield random_scene(seed=1)

    monkeypatch.setattr(loop, "minimise", waiting)
    assert len(list(estimate_many(scenes(), Options("gcm", solves=1), engine="cpu"))) == 2


def test_a_result_goes_out_while_the_next_one_is_computed(monkeypatch):
    begun = threading.Event()
    compute, finish = loop.minimise, many.as_result
    runs = []

    def counting(*arguments, **options):
        runs.append(None)
        if len(runs) == 2:
            begun.set()
        return compute(*arguments, **options)

    def waiting(*arguments):
        assert begun.wait(PATIENCE), "the next scene waits for this result"
        return finish(*arguments)

    monkeypatch.setattr(loop, "minimise", counting)
    monkeypatch.setattr(many, "as_result", waiting)
    scenes = [random_scene(seed=seed) for seed in range(2)]
    assert len(list(estimate_many(scenes, Options("gcm", solves=1), engine="cpu"))) == 2


def test_an_item_that_is_not_a_scene_is_named():
    for wrong, said in (("a folder", "'a folder' is a path, not a Scene"), (None, "is a NoneType, not a Scene")):
        results = estimate_many([random_scene(), wrong, random_scene()], Options("gcm", solves=1), engine="cpu")
        next(results)
        with pytest.raises(InputError, match=f"^scene: {said}"):
            next(results)
        with pytest.raises(InputError, match=f"^scene: {said}"):
            estimate(wrong)
    with pytest.raises(InputError, match=r"^scenes: is one Scene"):
        estimate_many(random_scene())
    with pytest.raises(InputError, match=r"^initial: is a str, neither a number nor a map"):
        estimate(random_scene(), Options("gcm", solves=1), initial="previous")


def test_results_print_as_one_line():
    result = estimate(synth.render("planes", (24, 32), views=3), Options("gcm", solves=2), engine="cpu")
    assert repr(result).startswith("<Result of 'planes': 32 x 24, 2 solves, cpu, RMSE ")
    assert "points, in mm>" in repr(result.points())
    assert "\n" not in repr(result) + repr(result.points())


def test_reversed_cameras_cause_one_warning():
    scene = synth.render("occlusion", (96, 96)).flipped(y=True)
    with pytest.warns(UserWarning, match="laid out differently") as caught:
        results = list(estimate_many([scene] * 2, Options("gcm", solves=3), engine="cpu"))
    assert len(caught) == 1
    assert [len(result.warnings) for result in results] == [1, 0]
    (quiet,) = estimate_many([scene], Options("gcm", solves=3), engine="cpu", check_directions=False)
    assert quiet.warnings == []


def test_an_unusable_gpu_is_refused_with_the_reason(monkeypatch):
    monkeypatch.setattr(cuda_device, "why_not", lambda *_: "the GPU is asleep")
    with pytest.raises(InputError, match=r"^engine: cuda cannot be used: the GPU is asleep; "):
        list(estimate_many([random_scene()], Options("gcm", solves=1), engine="cuda"))
