"""Which engine a run gets, and what the user is told if it is not the one that was asked for."""

import sys

import numpy as np
import pytest

from engine_cases import random_scene
from gradcon import DeviceError, InputError, Options, Scene, engines, estimate, synth
from gradcon.engines.cuda import device as cuda_device
from gradcon.engines.failures import in_words
from gradcon.extras import install_extra


def test_engines_say_what_they_can_do_without_being_imported():
    assert engines.NAMES == ("auto", "cuda", "cpu", "reference")
    assert [name for name, kind in engines.ENGINES.items() if kind.keeps_maps] == ["cuda"]
    assert engines.kind_for("reference").workers is None


def test_auto_says_why_it_takes_the_cpu(monkeypatch):
    monkeypatch.setattr(cuda_device, "why_not", lambda: "the GPU is asleep")
    result = estimate(random_scene(), Options("gcm", solves=1))
    assert (result.engine, result.engine_note) == ("cpu", "no GPU: the GPU is asleep")
    assert result.summary()["engine_note"] == "no GPU: the GPU is asleep"
    with pytest.raises(InputError, match=r"^engine: cuda cannot be used: the GPU is asleep; "):
        estimate(random_scene(), Options("gcm", solves=1), engine="cuda")
    with pytest.raises(InputError, match=r"^on_device: the engine is cpu.* \(no GPU: the GPU is asleep\)"):
        estimate(random_scene(), Options("gcm", solves=1), on_device=True)
    assert engines.kind_for("auto").name == "cpu"
    assert isinstance(engines.device_for("auto"), engines.Host)


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

    with pytest.raises(InputError, match=r"^engine: the GPU has too little free memory for this scene; .*\.$"):
        fail(FakeCuda.OutOfMemoryError("out of memory"))
    with pytest.raises(DeviceError, match=r"^the GPU or its driver failed: it is lost; nvidia-smi"):
        fail(FakeCuda.CUDARuntimeError("it is lost\nand more"))
    with pytest.raises(ZeroDivisionError):
        fail(ZeroDivisionError())


@pytest.mark.parametrize("status", [35, 100, 700])
def test_a_missing_driver_is_a_refusal_and_a_broken_gpu_a_failure(monkeypatch, status):
    cuda = FakeCuda.install(monkeypatch)

    def count():
        error = FakeCuda.CUDARuntimeError("cudaErrorSomething: it says why")
        error.status = status
        raise error

    cuda.runtime.getDeviceCount = count
    cuda_device.why_not.cache_clear()
    try:
        if status == 700:
            with pytest.raises(DeviceError, match="it says why"):
                estimate(random_scene(), Options("gcm", solves=1), engine="cuda")
        else:
            with pytest.raises(InputError, match=r"cuda cannot be used: CuPy cannot use a GPU here: cudaError"):
                estimate(random_scene(), Options("gcm", solves=1), engine="cuda")
        result = estimate(random_scene(), Options("gcm", solves=1))
        assert result.engine == "cpu"
        assert "it says why" in result.engine_note
    finally:
        cuda_device.why_not.cache_clear()


def test_arrays_on_a_gpu_need_cupy(monkeypatch):
    class OnDevice:
        __cuda_array_interface__ = {}  # noqa: RUF012

    monkeypatch.setitem(sys.modules, "cupy", None)  # an import of it fails
    with pytest.raises(InputError, match="CuPy is not installed"):
        Scene(OnDevice(), [np.zeros((4, 4))], [(1, 0)])


def test_without_cupy_it_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(cuda_device.importlib.util, "find_spec", lambda name: None)
    cuda_device.why_not.cache_clear()
    try:
        assert install_extra("cuda") in cuda_device.why_not()
    finally:
        cuda_device.why_not.cache_clear()


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
