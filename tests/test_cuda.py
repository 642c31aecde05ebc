"""The CUDA engine against the reference: its kernels run thread by thread on the host (tests/simt), and on a GPU too.

Without a GPU the emulated device holds every operation to the reference engine, on every kind of scene; where nvcc is,
the kernels are compiled for real; and where CuPy finds a GPU, the same comparisons, and whole runs, are made on it.
"""

import subprocess
import sys

import numpy as np
import pytest

from gradcon import DeviceError, InputError, Options, Scene, engines, estimate, estimate_many, synth
from gradcon.engines import DataTerm, create
from gradcon.engines.cuda import device as cuda_device
from gradcon.engines.cuda import plan as cuda_plan
from gradcon.engines.cuda import solver as cuda_solver
from gradcon.engines.cuda.engine import CudaEngine
from gradcon.engines.cuda.errors import in_words
from gradcon.engines.cuda.source import KERNELS, OPTIONS, source
from gradcon.engines.reference import smoothness_operator
from gradcon.methods.loop import minimise
from gradcon.methods.schedules import METHODS, build
from simt import COMPILER, EmulatedDevice
from test_engines import DATA_TERMS, SCENES, random_scene, random_system, some_disparity, weak_system
from test_weights import weights_of

EPSILON = Options.epsilon
NO_GPU = cuda_device.why_not()
needs_gpu = [pytest.mark.gpu, pytest.mark.skipif(NO_GPU is not None, reason=f"no GPU: {NO_GPU}")]
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler: install g++")


@pytest.fixture(params=[pytest.param("emulated", marks=needs_compiler), pytest.param("gpu", marks=needs_gpu)])
def device(request):
    return EmulatedDevice() if request.param == "emulated" else cuda_device.current_device()


def both(scene, device):
    return create("reference", scene, Options()), CudaEngine(scene, EPSILON, device)


def on_host(engine, *planes):
    return [engine.download(plane) for plane in planes]


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES.keys())
def test_warp_agrees(scene, device):
    reference, cuda = both(scene, device)
    (stage,) = build("gcm", scene.baselines, 0.5)
    w = some_disparity(scene, size=3.0)  # far enough to leave the image
    expected = reference.warped_images(reference.upload(w), stage)
    assert cuda.warped_images(cuda.upload(w), stage) == pytest.approx(expected, abs=2e-5)


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES.keys())
@pytest.mark.parametrize("reweight", [False, True])
@pytest.mark.parametrize(
    ("method", "scales", "without"),
    DATA_TERMS,
)
def test_data_term_agrees(scene, device, reweight, method, scales, without):
    reference, cuda = both(scene, device)
    stage = build(method, scene.baselines, 0.5, scales, without)[0]
    w = some_disparity(scene)
    wide, there = reference.upload(w), cuda.upload(w)
    expected = reference.data_term(wide, reference.warp(wide, stage), stage, reweight)
    got = on_host(cuda, *cuda.data_term(there, cuda.warp(there, stage), stage, reweight))
    for a, b in zip(got, expected, strict=True):
        assert np.abs(a - b).max() <= 2e-3 * np.abs(b).max()
        assert np.abs(a - b).mean() <= 2e-4 * np.abs(b).mean() + 1e-12


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES.keys())
def test_deviation_agrees(scene, device):
    reference, cuda = both(scene, device)
    (stage,) = build("gcm", scene.baselines, 0.5)
    w = some_disparity(scene)
    expected = reference.deviation(reference.upload(w), stage)
    assert on_host(cuda, cuda.deviation(cuda.upload(w), stage))[0] == pytest.approx(expected, rel=5e-3)


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES.keys())
@pytest.mark.parametrize("without", [None, "scale", "gradient"])
def test_weights_agree(scene, device, without):
    (stage,) = build("gcm", scene.baselines, 0.5, None, without)
    expected, got = (weights_of(machine, scene, stage) for machine in both(scene, device))
    assert got == pytest.approx(expected, rel=5e-3)


def test_bands_of_rows_change_nothing(device, monkeypatch):
    scene = random_scene((100, 45))
    (stage,) = build("gcm", scene.baselines, 0.5)
    found = []
    for most in (cuda_plan.BAND_BYTES, 1):  # all rows at once; 32 at a time
        monkeypatch.setattr(cuda_plan, "BAND_BYTES", most)
        cuda = CudaEngine(scene, EPSILON, device)
        w = cuda.upload(some_disparity(scene))
        found.append(on_host(cuda, *cuda.data_term(w, cuda.warp(w, stage), stage, True)))
        assert len(cuda._plan(stage, stage.weighting).bands) == (1 if most > 1 else 4)
    np.testing.assert_array_equal(found[0], found[1])


def test_views_at_many_distances_are_weighed_in_groups(device, monkeypatch):
    scene = random_scene((20, 40), [(x, y) for x in range(-3, 4) for y in range(-3, 4) if (x, y) != (0, 0)])
    (stage,) = build("gcm", scene.baselines, 0.5)
    w, found = some_disparity(scene), []
    for most in (1, 16, 100):
        monkeypatch.setattr(cuda_plan, "GROUP", most)
        reference, cuda = both(scene, device)
        there = cuda.upload(w)
        found.append(on_host(cuda, *cuda.data_term(there, cuda.warp(there, stage), stage, True)))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    wide = reference.upload(w)
    expected = reference.data_term(wide, reference.warp(wide, stage), stage, True)
    assert np.abs(found[0][0] - expected.diagonal).max() <= 2e-3 * expected.diagonal.max()


# By how many pixels are left to shared memory, the levels in between are done in pairs, or one by one.
@pytest.mark.parametrize("bottom", [64 * 64, 64, 16])
@pytest.mark.parametrize("shape", [(30, 43), (17, 16), (1, 90), (91, 1), (2, 2), (1, 1)])
@pytest.mark.parametrize("reweight", [False, True])
def test_inner_solver_agrees_with_a_dense_solve(device, shape, bottom, reweight, monkeypatch):
    monkeypatch.setattr(cuda_solver, "INNER_TOLERANCE", 1e-7)
    monkeypatch.setattr(cuda_solver, "BOTTOM_PIXELS", bottom)
    w, term = random_system(shape, seed=3)
    alpha = 0.5
    L = smoothness_operator(w.astype(float), reweight).toarray()
    A = np.diag(term.diagonal.ravel().astype(float)) + alpha * L
    b = term.rhs.ravel() - alpha * L @ w.ravel()
    expected = np.linalg.lstsq(A, b, rcond=None)[0].reshape(shape)
    cuda = CudaEngine(Scene(np.zeros(shape), [np.zeros(shape)], [(1, 0)]), EPSILON, device)
    there = DataTerm(*(cuda.upload(part) for part in term))
    (dw,) = on_host(cuda, cuda.solve(cuda.upload(w), there, alpha, reweight))
    assert np.abs(dw - expected).max() <= 1e-4 * np.abs(expected).max() + 1e-12


def test_strong_links_do_not_swallow_a_weak_data_term(device):
    w, term, alpha = weak_system()
    cuda = CudaEngine(Scene(np.zeros(w.shape), [np.zeros(w.shape)], [(1, 0)]), EPSILON, device)
    there = DataTerm(*(cuda.upload(part) for part in term))
    assert on_host(cuda, cuda.solve(cuda.upload(w), there, alpha, True))[0] == pytest.approx(3.0, abs=1e-3)


@pytest.mark.parametrize("shape", [(33, 47), (3, 600), (1, 9), (9, 1), (1, 1), (2, 3)])
def test_update_and_report(shape, device):
    rng = np.random.default_rng(7)
    w, dw, truth = (rng.normal(size=shape).astype("f4") for _ in range(3))
    truth[rng.random(shape) < 0.2] = np.nan
    truth[0, 0] = 1.0
    scene = Scene(np.zeros(shape), [np.zeros(shape)], [(2, 0)], ground_truth=truth)
    reference, cuda = both(scene, device)
    before, step = cuda.upload(w), cuda.upload(dw)
    nothing = DataTerm(cuda.upload(np.zeros(shape)), cuda.upload(np.zeros(shape)))
    cuda.solve(cuda.upload(np.zeros(shape)), nothing, 0.5, False)  # begins the count of pixels that meet the limit
    after = cuda.update(before, step, 0.5)
    expected = reference.update(reference.upload(w), reference.upload(dw), 0.5)
    assert on_host(cuda, after)[0] == pytest.approx(expected, abs=1e-6)
    got, wanted = cuda.report(before, after), reference.report(w.astype(float), expected)
    assert got.clipped == wanted.clipped
    assert got[2:] == pytest.approx(wanted[2:], rel=1e-5)
    assert cuda.change(before, after) == got.step_mean


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["occlusion", "rotated"])
def test_a_run_follows_the_cpu(device, method, kind):
    scene = synth.render(kind, (50, 61), grid=3)
    options = Options(method=method, solves=4)
    expected = minimise(scene, options, engine="cpu")
    found = minimise(scene, options, engine=CudaEngine(scene, EPSILON, device))
    assert [row.scales for row in found.history] == [row.scales for row in expected.history]
    assert [row.views for row in found.history] == [row.views for row in expected.history]
    for got, wanted in zip(found.history, expected.history, strict=True):
        assert got.rmse == pytest.approx(wanted.rmse, abs=1e-3)
    assert np.abs(found.disparity() - expected.disparity()).mean() < 2e-3


def test_two_runs_give_the_same_bytes(device):
    scene = synth.render("occlusion", (40, 52), grid=3)
    first, second = (
        minimise(scene, Options(solves=4), engine=CudaEngine(scene, EPSILON, device)).disparity() for _ in range(2)
    )
    assert first.tobytes() == second.tobytes()


def test_an_engine_may_take_the_memory_of_another(device):
    scenes = [synth.render("occlusion", (40, 52), grid=3, seed=seed) for seed in range(2)]
    options = Options(solves=2)
    first = CudaEngine(scenes[0], EPSILON, device)
    minimise(scenes[0], options, engine=first)
    second = CudaEngine(scenes[1], EPSILON, device, after=first)
    assert second.buffers is first.buffers
    again = minimise(scenes[1], options, engine=second).disparity()
    fresh = minimise(scenes[1], options, engine=CudaEngine(scenes[1], EPSILON, device)).disparity()
    np.testing.assert_array_equal(again, fresh)


def test_memory_of_another_size_is_not_taken(device):
    """The solver's levels of these two sizes are arrays of one size, but their margins are elsewhere."""
    assert cuda_solver.levels_of(8, 17)[1] == cuda_solver.levels_of(11, 13)[1]
    scenes = [random_scene(shape) for shape in ((8, 17), (11, 13))]
    options = Options(solves=2)
    first = CudaEngine(scenes[0], EPSILON, device)
    minimise(scenes[0], options, engine=first)
    again = minimise(scenes[1], options, engine=CudaEngine(scenes[1], EPSILON, device, after=first)).disparity()
    fresh = minimise(scenes[1], options, engine=CudaEngine(scenes[1], EPSILON, device)).disparity()
    np.testing.assert_array_equal(again, fresh)


@needs_compiler
def test_a_solve_takes_few_launches_and_one_read():
    class Counting(EmulatedDevice):
        reads = 0

        def get(self, array):
            self.reads += 1
            return super().get(array)

    scene = random_scene()
    counting = Counting()
    machine = CudaEngine(scene, EPSILON, counting)
    minimise(scene, Options(solves=2), engine=machine)
    counting.launches.clear()
    counting.reads = 0
    minimise(scene, Options(solves=4), engine=machine)
    assert len(counting.launches) == 4 * 9
    assert counting.reads == 4


@needs_compiler
def test_too_many_views_at_one_distance_are_refused():
    with pytest.raises(InputError, match="1000 views at one distance"):
        CudaEngine(random_scene(), EPSILON, EmulatedDevice())._weigh("weigh", [], 1000, (0, 1))


def test_the_kernels_compile_for_a_gpu(tmp_path):
    import shutil

    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("no nvcc: install the CUDA toolkit to compile the kernels here")
    for file, names in KERNELS.items():
        (tmp_path / file).write_text(source(file))
        command = [nvcc, "-cubin", "-arch=sm_90", "-Werror", "all-warnings", *OPTIONS, "-o", tmp_path / "out", file]
        subprocess.run(command, check=True, cwd=tmp_path)
        built = (tmp_path / "out").read_bytes()
        for name in names:
            assert f".text.{name}\0".encode() in built


# ---- choosing an engine


def test_auto_says_why_it_takes_the_cpu(monkeypatch):
    monkeypatch.setattr(cuda_device, "why_not", lambda *_: "the GPU is asleep")
    result = estimate(random_scene(), Options(solves=1))
    assert (result.engine, result.engine_note) == ("cpu", "no GPU: the GPU is asleep")
    assert result.summary()["engine_note"] == "no GPU: the GPU is asleep"
    with pytest.raises(InputError, match=r"^engine: cuda cannot be used: the GPU is asleep; "):
        estimate(random_scene(), Options(solves=1), engine="cuda")
    with pytest.raises(InputError, match=r"^on_device: the engine is cpu.* \(no GPU: the GPU is asleep\)"):
        estimate(random_scene(), Options(solves=1), on_device=True)
    assert engines.gpu_for("auto") is None


@needs_compiler
def test_filters_too_long_for_the_shared_memory_are_refused():
    assert cuda_plan.tiling_of_scale(7, 99 << 10) is None
    assert cuda_plan.tiling_of_scale(7, 227 << 10) is not None
    scene = random_scene((20, 30))
    small = CudaEngine(scene, EPSILON, EmulatedDevice(shared_limit=48 << 10))
    with pytest.raises(InputError, match="use fewer scales"):
        minimise(scene, Options(scales=7, solves=1), engine=small)


class FakeCuda:
    """As much of CuPy as its errors need."""

    class CUDARuntimeError(RuntimeError):
        status = 700

    class OutOfMemoryError(MemoryError):
        pass

    @classmethod
    def install(cls, monkeypatch):
        from types import ModuleType

        cupy, cuda = ModuleType("cupy"), ModuleType("cupy.cuda")
        cuda.driver = ModuleType("driver")
        cuda.driver.CUDADriverError = type("CUDADriverError", (RuntimeError,), {})
        cuda.runtime = ModuleType("runtime")
        cuda.runtime.CUDARuntimeError = cls.CUDARuntimeError
        cuda.memory = ModuleType("memory")
        cuda.memory.OutOfMemoryError = cls.OutOfMemoryError
        cupy.cuda = cuda
        monkeypatch.setitem(sys.modules, "cupy", cupy)
        monkeypatch.setitem(sys.modules, "cupy.cuda", cuda)
        monkeypatch.setattr(cuda_device.importlib.util, "find_spec", lambda name: name)
        return cuda


def test_errors_of_a_gpu_become_sentences(monkeypatch):
    FakeCuda.install(monkeypatch)

    @in_words
    def fail(error):
        raise error

    with pytest.raises(InputError, match=r"^the GPU has not enough free memory for this scene; .*\.$"):
        fail(FakeCuda.OutOfMemoryError("out of memory"))
    with pytest.raises(DeviceError, match=r"^the GPU or its driver failed: it is lost; nvidia-smi"):
        fail(FakeCuda.CUDARuntimeError("it is lost\nand more"))
    with pytest.raises(ZeroDivisionError):
        fail(ZeroDivisionError())


@pytest.mark.parametrize("status", [35, 100, 700])
def test_no_driver_is_no_failure_but_a_broken_gpu_is(monkeypatch, status):
    cuda = FakeCuda.install(monkeypatch)

    def count():
        error = FakeCuda.CUDARuntimeError("cudaErrorSomething: it says why")
        error.status = status
        raise error

    cuda.runtime.getDeviceCount = count
    cuda_device._unusable.cache_clear()
    try:
        if status == 700:
            with pytest.raises(DeviceError, match="it says why"):
                estimate(random_scene(), Options(solves=1), engine="cuda")
        else:
            with pytest.raises(InputError, match=r"cuda cannot be used: CuPy cannot use a GPU here: cudaError"):
                estimate(random_scene(), Options(solves=1), engine="cuda")
        result = estimate(random_scene(), Options(solves=1))
        assert result.engine == "cpu"
        assert "it says why" in result.engine_note
    finally:
        cuda_device._unusable.cache_clear()


def test_arrays_on_a_gpu_need_cupy(monkeypatch):
    class OnDevice:
        __cuda_array_interface__ = {}  # noqa: RUF012

    monkeypatch.setitem(sys.modules, "cupy", None)  # an import of it fails
    with pytest.raises(InputError, match="CuPy is not installed"):
        Scene(OnDevice(), [np.zeros((4, 4))], [(1, 0)])


def test_without_cupy_it_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(cuda_device.importlib.util, "find_spec", lambda name: None)
    cuda_device._unusable.cache_clear()
    try:
        assert "pip install 'gradcon[cuda]'" in cuda_device.why_not()
    finally:
        cuda_device._unusable.cache_clear()


def test_a_gpu_that_fails_ends_the_command_with_code_3(monkeypatch, capsys, tmp_path):
    from gradcon import cli
    from gradcon.cli import estimates

    def fail(*_, **__):
        raise DeviceError("the GPU or its driver failed: it is lost.")

    folder = synth.write("planes", tmp_path / "scene", (16, 16), views=5)
    monkeypatch.setattr(estimates, "estimate", fail)
    assert cli.main(["estimate", str(folder), "--out", str(tmp_path / "out")]) == 3
    assert capsys.readouterr().err == "gradcon: the GPU or its driver failed: it is lost.\n"
    assert not (tmp_path / "out").exists()


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
    options = Options(solves=5)
    expected = estimate(scene, options, engine="cuda")
    there = Scene(cupy.asarray(scene.reference), [cupy.asarray(t) for t in scene.targets], scene.baselines)
    assert there.fingerprint() == scene.fingerprint()
    result = estimate(there, options, engine="cuda", on_device=True)
    assert isinstance(result.disparity, cupy.ndarray)
    np.testing.assert_array_equal(result.disparity.get(), expected.disparity)
    np.testing.assert_array_equal(result.uncertainty.get(), expected.uncertainty)
    again = estimate(there, options, initial=result.disparity, engine="cuda")
    assert again.parameters["initial"] == "a map"
    assert estimate(there, options, engine="cpu").disparity == pytest.approx(expected.disparity, abs=0.05)


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
    scenes, options = [synth.render("occlusion", (64, 80), grid=3)] * 4, Options(solves=4)
    for result in estimate_many(scenes, options, engine="cuda"):
        np.testing.assert_array_equal(result.disparity, estimate(scenes[0], options, engine="cuda").disparity)
        assert isinstance(result.scene.targets, np.ndarray)  # results do not hold the GPU's memory
    chained = list(estimate_many(scenes, options, initial="previous", engine="cuda", on_device=True))
    assert chained[-1].history[-1].rmse < chained[0].history[-1].rmse


@pytest.mark.gpu
def test_little_memory_is_said_in_a_sentence(cupy):
    cupy.get_default_memory_pool().free_all_blocks()
    scene = random_scene((256, 256))
    free = cupy.cuda.runtime.memGetInfo()[0]
    held = cupy.empty(free - (8 << 20), cupy.uint8)
    assert "MB free" in cuda_device.why_not(scene, Options())
    assert estimate(scene, Options(solves=1)).engine == "cpu"
    with pytest.raises(InputError, match="not enough free memory"):
        cuda_device.current_device().empty((1 << 26,))
    del held
    cupy.get_default_memory_pool().free_all_blocks()


@pytest.mark.gpu
def test_a_broken_gpu_names_itself(cupy, tmp_path):
    """In a process of its own: its context does not come back."""
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
