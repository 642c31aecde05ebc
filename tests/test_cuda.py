"""The CUDA engine alone: how it cuts its work, its memory and launches; the conformance suite holds its results.

Without a GPU its kernels run thread by thread on the host (tests/simt).  If nvcc is there, it compiles them for real;
if CuPy finds a GPU, the same tests run on it, and whole runs too.
"""

import subprocess
import sys

import numpy as np
import pytest

from engine_cases import (
    NO_GPU,
    ON_GPU,
    blank_scene,
    data_term,
    dense_solution,
    make,
    needs_compiler,
    random_scene,
    random_system,
    solve,
    some_disparity,
)
from gradcon import InputError, Options, Scene, estimate, estimate_many, synth, synthesise
from gradcon.engines import BY_DEFAULT, PRINTED, Choices, Stage, Weighting, cascade, model
from gradcon.engines.cuda import device as cuda_device
from gradcon.engines.cuda import plan as cuda_plan
from gradcon.engines.cuda import solver as cuda_solver
from gradcon.engines.cuda.engine import CudaEngine
from gradcon.engines.cuda.source import FIXED, KERNELS, OPTIONS, source
from gradcon.engines.filters import filters_of
from gradcon.methods.loop import minimise
from gradcon.methods.options import PAPER_EPSILON
from gradcon.methods.schedules import build, stages_of
from gradcon.scene.shrink import shrunk
from simt import EmulatedGpu

pytestmark = pytest.mark.slow

on_gpu = pytest.mark.parametrize("name", ON_GPU)
by_default_and_printed = pytest.mark.parametrize("choices", [BY_DEFAULT, PRINTED], ids=["by default", "printed"])
EPSILON = PAPER_EPSILON


@by_default_and_printed
@on_gpu
def test_bands_of_rows_change_nothing(name, choices, monkeypatch):
    scene = random_scene((100, 45))
    (stage,) = build("gcm", scene.baselines, 0.5)
    found = []
    for most in (cuda_plan.BAND_BYTES, 1):  # all rows at once; 32 at a time
        monkeypatch.setattr(cuda_plan, "BAND_BYTES", most)
        cuda = make(name, choices)(scene)
        found.append(data_term(cuda, some_disparity(scene), stage, sample=3))
        assert len(cuda._plan(stage, stage.weighting).bands) == (1 if most > 1 else 4)
    for whole, banded in zip(*found, strict=True):
        np.testing.assert_array_equal(whole, banded)


@by_default_and_printed
@on_gpu
@pytest.mark.parametrize("noise", [0, 0.02, 0.3])
def test_views_at_many_distances_are_weighed_in_groups(name, noise, choices, monkeypatch):
    grid = [(x, y) for x in range(-3, 4) for y in range(-3, 4) if (x, y) != (0, 0)]
    scene = random_scene((20, 40), np.random.default_rng(0).normal(grid, noise))
    (stage,) = build("gcm", scene.baselines, 0.5)
    w, found = some_disparity(scene), []
    for most in (1, 16, 100):
        monkeypatch.setattr(cuda_plan, "GROUP", most)
        found.append(data_term(make(name, choices)(scene), w, stage)[:2])
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    expected = data_term(make("reference", choices)(scene), w, stage)
    assert np.abs(found[0][0] - expected.diagonal).max() <= 2e-3 * expected.diagonal.max()


# Depending on how many pixels are left to shared memory, the levels in between are done in pairs, or one by one.
@pytest.mark.parametrize("bottom", [64 * 64, 64, 16])
@pytest.mark.parametrize("shape", [(30, 43), (17, 16), (1, 90), (91, 1), (2, 2), (1, 1)])
@pytest.mark.parametrize("reweight", [False, True])
@on_gpu
def test_the_solver_may_keep_few_levels_in_shared_memory(name, shape, bottom, reweight, monkeypatch):
    monkeypatch.setattr(cuda_solver, "INNER_TOLERANCE", 1e-7)
    monkeypatch.setattr(cuda_solver, "BOTTOM_PIXELS", bottom)
    w, term = random_system(shape, seed=3)
    expected = dense_solution(shape, reweight, alpha=0.5)
    dw = solve(make(name)(blank_scene(shape)), w, term, 0.5, reweight)
    assert np.abs(dw - expected).max() <= 1e-4 * np.abs(expected).max() + 1e-12


@needs_compiler
@by_default_and_printed
@pytest.mark.parametrize("kind", ["occlusion", "rotated"])
@pytest.mark.parametrize("method", ["gcm", "naive"])
def test_threads_in_descending_order_give_the_same_bytes(kind, method, choices):
    """A missing barrier shows in one of the two orders."""
    scene = synth.render(kind, (34, 45), grid=3)
    found = []
    for descending in (False, True):
        engine = CudaEngine(scene, EPSILON, EmulatedGpu(descending=descending), choices=choices)
        run = minimise(scene, Options(method=method, solves=3, choices=choices), engine=engine, keep_weights=True)
        maps = [engine.device.get(plane) for plane in run.maps()]
        reports = [(row.clipped, row.inner_iterations, row.step_mean, row.step_max, row.rmse) for row in run.history]
        found.append([reports, *(plane.tobytes() for plane in maps), run.recorder.weights().codes.tobytes()])
    assert found[0] == found[1]


@on_gpu
def test_an_engine_may_take_the_memory_of_another(name):
    scenes = [synth.render("occlusion", (40, 52), grid=3, seed=seed) for seed in range(2)]
    options = Options("gcm", solves=2)
    first = make(name)(scenes[0])
    minimise(scenes[0], options, engine=first)
    second = CudaEngine(scenes[1], EPSILON, first.device, after=first)
    assert second.buffers is first.buffers
    again = minimise(scenes[1], options, engine=second).disparity()
    fresh = minimise(scenes[1], options, engine=make(name)(scenes[1])).disparity()
    np.testing.assert_array_equal(again, fresh)


@on_gpu
def test_memory_of_another_size_is_not_taken(name):
    """The solver's levels of these two sizes are arrays of one size, but their margins are elsewhere."""
    assert cuda_solver.levels_of(8, 17)[1] == cuda_solver.levels_of(11, 13)[1]
    scenes = [random_scene(shape) for shape in ((8, 17), (11, 13))]
    options = Options("gcm", solves=2)
    first = make(name)(scenes[0])
    minimise(scenes[0], options, engine=first)
    again = minimise(scenes[1], options, engine=CudaEngine(scenes[1], EPSILON, first.device, after=first)).disparity()
    fresh = minimise(scenes[1], options, engine=make(name)(scenes[1])).disparity()
    np.testing.assert_array_equal(again, fresh)


@on_gpu
def test_memory_of_other_choices_is_not_taken(name):
    """They may need more of it; what the first engine held is released."""
    scene = synth.render("occlusion", (40, 52), grid=3)
    first = make(name)(scene)
    minimise(scene, Options("gcm", solves=2), engine=first)
    options = Options("gcm", solves=2, choices=PRINTED)
    first.make_room(scene, PRINTED)
    assert not first.buffers
    second = CudaEngine(scene, EPSILON, first.device, after=first, choices=PRINTED)
    again = minimise(scene, options, engine=second).disparity()
    fresh = minimise(scene, options, engine=make(name, PRINTED)(scene)).disparity()
    np.testing.assert_array_equal(again, fresh)
    assert CudaEngine(scene, EPSILON, first.device, after=second, choices=PRINTED).buffers is second.buffers


@needs_compiler
@by_default_and_printed
@pytest.mark.parametrize("scales", [(0,), (2, 1, 0), (3, 2, 1)])
def test_an_engine_holds_what_it_is_said_to_need(scales, choices):
    class Counting(EmulatedGpu):
        held = 0

        def planes(self, images, pitch):
            planes = super().planes(images, pitch)
            self.held += planes.nbytes
            return planes

    scene = random_scene((16, 1024))
    stage, counting = Stage(tuple(range(len(scene.baselines))), scales, 0.5, 0.5, Weighting()), Counting()
    engine = CudaEngine(scene, EPSILON, counting, choices=choices)
    step = engine.step(engine.upload(some_disparity(scene)), stage)
    engine.deviation(step.w, stage)
    held = counting.held + sum(one.nbytes for one in (*engine.buffers.values(), *engine._references.values()))
    assert held < cuda_plan.bytes_needed(scene.shape, stage, choices) < 1.2 * held


@pytest.mark.parametrize("filters", ["cascade", "gaussians"])
@pytest.mark.parametrize("widths", ["equal", "composed"])
def test_the_kernels_take_no_filter_for_another(filters, widths):
    kind = filters_of(Choices(filters=filters, widths=widths))
    pairs = [(kind.smoothing(q), kind.derivative(q)) for q in range(6)]
    pairs += [(model.gaussian(s), model.gaussian_derivative(s)) for s in np.arange(0.2, 4, 0.1)]
    for pair in pairs:
        told = cuda_plan.told_apart(*pair)
        more = (told.shape[1] - len(pair[0])) // 2
        np.testing.assert_array_equal(told, np.pad(pair, ((0, 0), (more, more))))
        if (q := FIXED.get(told.shape[1] // 2)) is not None:
            np.testing.assert_array_equal(told, [cascade.smoothing(q), cascade.derivative(q)])


def test_the_kernels_know_the_filters_of_the_default():
    kind = filters_of(BY_DEFAULT)
    assert list(FIXED) == [cuda_plan.told_apart(kind.smoothing(q), kind.derivative(q)).shape[1] // 2 for q in range(3)]
    finest = model.sigma(0)  # which also smooths the local variance
    assert cuda_plan.told_apart(model.gaussian(finest), model.gaussian_derivative(finest)).shape[1] // 2 in FIXED


@needs_compiler
@by_default_and_printed
def test_a_solve_takes_few_launches_and_one_read(choices):
    class Counting(EmulatedGpu):
        reads = 0

        def get(self, array):
            self.reads += 1
            return super().get(array)

    scene = random_scene()
    counting = Counting()
    engine = CudaEngine(scene, EPSILON, counting, choices=choices)
    minimise(scene, Options("gcm", solves=2, choices=choices), engine=engine)
    counting.launches.clear()
    counting.reads = 0
    minimise(scene, Options("gcm", solves=4, choices=choices), engine=engine)
    assert len(counting.launches) == 4 * 9
    assert counting.reads == 4


@needs_compiler
def test_too_many_views_at_one_distance_are_refused():
    with pytest.raises(InputError, match="1000 views at one distance"):
        CudaEngine(random_scene(), EPSILON, EmulatedGpu()).launch.weigh("weigh", [], 1000, (0, 1))


def test_the_kernels_compile_for_a_gpu(tmp_path):
    import shutil

    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("no nvcc: install the CUDA toolkit to compile the kernels here")
    started = {}
    for file in KERNELS:  # side by side: each takes ten seconds and more
        (tmp_path / file).write_text(source(file))
        command = [nvcc, "-cubin", "-arch=sm_90", "-Werror", "all-warnings", *OPTIONS, "-o", f"{file}.out", file]
        started[file] = subprocess.Popen(command, cwd=tmp_path)
    for file, process in started.items():
        assert process.wait() == 0
        built = (tmp_path / f"{file}.out").read_bytes()
        for name in KERNELS[file]:
            assert f".text.{name}\0".encode() in built


@needs_compiler
def test_filters_too_long_for_the_shared_memory_are_refused():
    assert cuda_plan.tiling_of_scale(7, 99 << 10) is None
    assert cuda_plan.tiling_of_scale(7, 227 << 10) is not None
    assert cuda_plan.tiling_of_scale(7, 114 << 10) is None  # the Gaussian is a little shorter
    assert cuda_plan.tiling_of_scale(7, 114 << 10, PRINTED) is not None
    scene = random_scene((20, 30))
    small = CudaEngine(scene, EPSILON, EmulatedGpu(shared_limit=48 << 10))
    with pytest.raises(InputError, match="use fewer scales"):
        minimise(scene, Options("gcm", scales=7, solves=1), engine=small)


# ---- on a GPU


@pytest.fixture
def cupy():
    if NO_GPU:
        pytest.skip(f"no GPU: {NO_GPU}")
    import cupy

    return cupy


@pytest.mark.gpu
def test_device_arrays_go_in_and_come_out(cupy):
    scene = synth.render("occlusion", (64, 80), grid=3)
    options = Options("gcm", solves=5)
    expected = estimate(scene, options, engine="cuda")
    views = [cupy.asarray(np.moveaxis(planes, 0, -1)) for planes in scene.colours]
    there = Scene(views[0], views[1:], scene.baselines)
    assert there.fingerprint() == scene.fingerprint()
    np.testing.assert_array_equal(there.targets.get(), scene.targets)
    result = estimate(there, options, engine="cuda", on_device=True)
    assert isinstance(result.disparity, cupy.ndarray)
    np.testing.assert_array_equal(result.disparity.get(), expected.disparity)
    np.testing.assert_array_equal(result.uncertainty.get(), expected.uncertainty)
    again = estimate(there, options, initial=result.disparity, engine="cuda")
    assert again.parameters["initial"] == "a map"
    assert estimate(there, options, engine="cpu").disparity == pytest.approx(expected.disparity, abs=0.05)


@pytest.mark.gpu
def test_maps_on_the_gpu_make_pictures_of_views_on_the_host(cupy):
    scene = synth.render("occlusion", (64, 80), grid=3)
    result = estimate(scene, engine="cuda", on_device=True)
    assert isinstance(result.disparity, cupy.ndarray)
    expected = synthesise(scene, result.disparity.get(), at=(0.5, 0))
    np.testing.assert_array_equal(synthesise(scene, result, at=(0.5, 0)), expected)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_a_scene_goes_to_the_gpu_and_back(cupy, dtype):
    random = np.random.default_rng(0)
    views = [(4000 * random.random((20, 30, *channels))).astype(dtype) for channels in ((3,), (), (3,), ())]
    scene = Scene(views[0], views[1:], [(1, 0), (-1, 0), (0, 1)])
    there = scene.to_device()
    assert isinstance(there.colours, cupy.ndarray)
    np.testing.assert_array_equal(there.reference.get(), scene.reference)
    np.testing.assert_array_equal(there.targets.get(), scene.targets)
    flipped = there.flipped(x=True)
    np.testing.assert_array_equal(flipped.targets.get(), scene.flipped(x=True).targets)
    np.testing.assert_allclose(shrunk(there, 10).colours, shrunk(scene, 10).colours, rtol=1e-6)
    back = there.to_host()
    assert isinstance(back.targets, np.ndarray)
    assert back.fingerprint() == there.fingerprint() == scene.fingerprint()


@pytest.mark.gpu
def test_dlpack_arrays_go_in(cupy):
    class Exported:
        """An array that offers nothing but DLPack."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    scene = synth.render("occlusion", (48, 48), grid=3)
    there = Scene(Exported(cupy.asarray(scene.reference)), [Exported(cupy.asarray(t)) for t in scene.targets],
                  scene.baselines)  # fmt: skip
    np.testing.assert_array_equal(there.targets.get(), scene.targets)


@pytest.mark.gpu
def test_many_on_the_gpu(cupy):
    scenes, options = [synth.render("occlusion", (64, 80), grid=3)] * 4, Options("gcm", solves=4)
    for result in estimate_many(scenes, options, engine="cuda"):
        np.testing.assert_array_equal(result.disparity, estimate(scenes[0], options, engine="cuda").disparity)
        assert isinstance(result.scene.targets, np.ndarray)  # results do not hold the GPU's memory
    chained = list(estimate_many(scenes, options, initial="previous", engine="cuda", on_device=True))
    assert chained[-1].history[-1].rmse < chained[0].history[-1].rmse


@pytest.mark.gpu
def test_a_lack_of_memory_is_reported_in_a_sentence(cupy):
    cupy.get_default_memory_pool().free_all_blocks()
    scene = random_scene((256, 256))
    free = cupy.cuda.runtime.memGetInfo()[0]
    held = cupy.empty(free - (8 << 20), cupy.uint8)
    assert "MB free" in cuda_device.why_too_large(scene, stages_of(scene, Options("gcm")))
    assert estimate(scene, Options("gcm", solves=1)).engine == "cpu"
    with pytest.raises(InputError, match="too little free memory"):
        cuda_device.current_device().empty((1 << 26,))
    del held
    cupy.get_default_memory_pool().free_all_blocks()


@pytest.mark.gpu
def test_a_broken_gpu_is_named(cupy, tmp_path):
    """This runs in a process of its own, because the GPU's context does not recover."""
    folder = synth.write("planes", tmp_path / "scene", (16, 16), views=5)
    code = f"""
import cupy
from gradcon import cli
cupy.RawKernel('extern "C" __global__ void f(int *p) {{ *(int *)8 = 1; }}', "f")((1,), (1,), (cupy.zeros(1, "i4"),))
cli.run(["estimate", {str(folder)!r}, "--out", {str(tmp_path / "out")!r}, "--engine", "cuda"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr.startswith("gradcon: the GPU or its driver failed: ")
    assert "Traceback" not in done.stderr
