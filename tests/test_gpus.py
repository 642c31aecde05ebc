"""Several GPUs: how they are counted without CUDA, and which of them each process of a batch is given."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gradcon import engines, run_batch
from gradcon.engines.cuda import device, gpus
from gradcon.errors import InputError
from gradcon.jobs import Job, Outcome, Store, run
from gradcon.jobs.processes import LocalPool, Processes
from gradcon.jobs.workers import Returned
from waiting import PATIENCE, wait_until

TWO = [{gpus.VISIBLE: "GPU-aa", gpus.WHICH: "1 of 2"}, {gpus.VISIBLE: "GPU-bb", gpus.WHICH: "2 of 2"}]


@pytest.fixture(autouse=True)
def no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The user has chosen no GPU."""
    monkeypatch.delenv(gpus.VISIBLE, raising=False)
    monkeypatch.delenv(gpus.WHICH, raising=False)


class FakeNvml:
    """As much of NVML as is used, for GPUs with these UUIDs and compute capabilities."""

    def __init__(self, *found: tuple[str, int, int], fails: str = "") -> None:
        self.found, self.fails, self.open = found, fails, 0

    def __getattr__(self, name: str) -> Any:
        call = getattr(self, f"_{name}")
        return (lambda *_: 999) if name == self.fails else call

    def _nvmlInit_v2(self) -> int:
        self.open += 1
        return 0

    def _nvmlShutdown(self) -> int:
        self.open -= 1
        return 0

    def _nvmlDeviceGetCount_v2(self, count: Any) -> int:
        count._obj.value = len(self.found)
        return 0

    def _nvmlDeviceGetHandleByIndex_v2(self, number: Any, handle: Any) -> int:
        handle._obj.value = 1 + number.value
        return 0

    def _nvmlDeviceGetUUID(self, handle: Any, uuid: Any, size: Any) -> int:
        assert len(uuid) == size.value
        uuid.value = self.found[handle.value - 1][0].encode()
        return 0

    def _nvmlDeviceGetCudaComputeCapability(self, handle: Any, major: Any, minor: Any) -> int:
        _, major._obj.value, minor._obj.value = self.found[handle.value - 1]
        return 0


def test_the_driver_lists_the_gpus_that_can_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    nvml = FakeNvml(("GPU-aa", 9, 0), ("GPU-old", 6, 1), ("GPU-bb", 12, 0))
    monkeypatch.setattr(gpus.ctypes, "CDLL", lambda name: nvml)
    assert gpus.installed() == [("GPU-aa", 90), ("GPU-old", 61), ("GPU-bb", 120)]
    assert nvml.open == 0
    assert gpus.environments() == TWO
    assert engines.ENGINES["cuda"].environments() == TWO
    assert engines.ENGINES["cpu"].environments() == []
    nvml.found = (("GPU-aa", 9, 0),)
    assert gpus.environments() == []  # there is nothing to choose from


@pytest.mark.parametrize("fails", ["nvmlInit_v2", "nvmlDeviceGetCount_v2", "nvmlDeviceGetUUID"])
def test_a_driver_that_fails_lists_none(monkeypatch: pytest.MonkeyPatch, fails: str) -> None:
    nvml = FakeNvml(("GPU-aa", 9, 0), fails=fails)
    monkeypatch.setattr(gpus.ctypes, "CDLL", lambda name: nvml)
    assert gpus.environments() == []
    assert nvml.open == 0


def test_a_computer_without_a_driver_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "LIBRARY", "libthere-is-no-such.so.1")
    assert gpus.installed() == []
    assert gpus.environments() == []


@pytest.mark.parametrize(
    ("told", "names"),
    [
        ("0,1", ["0", "1"]),
        ("3, 1", ["3", "1"]),
        ("GPU-1f2e,GPU-77,MIG-3", ["GPU-1f2e", "GPU-77", "MIG-3"]),
        ("1", ["1"]),
        ("", []),
        ("-1", []),
        ("0,-1,1", ["0"]),  # CUDA sees only those before one that does not exist
        ("0,0", ["0"]),
    ],
)
def test_what_the_user_has_chosen_counts(monkeypatch: pytest.MonkeyPatch, told: str, names: list[str]) -> None:
    monkeypatch.setenv(gpus.VISIBLE, told)
    monkeypatch.setattr(gpus, "installed", lambda: pytest.fail("the driver was asked"))
    assert gpus.gpus() == names
    assert [share[gpus.VISIBLE] for share in gpus.environments()] == (names if len(names) > 1 else [])


def test_counting_imports_no_cupy() -> None:
    program = (
        "import sys\nfrom gradcon import engines\nengines.ENGINES['cuda'].environments()\nprint('cupy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_the_note_names_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    assert gpus.note_of("NVIDIA H200") == "NVIDIA H200"
    monkeypatch.setenv(gpus.WHICH, "2 of 4")
    assert gpus.note_of("NVIDIA H200") == "NVIDIA H200, GPU 2 of 4"


def tell(number: int, marks: str, together: int) -> Outcome:
    """Return this process's environment, as soon as so many processes do such a job."""
    (Path(marks) / str(os.getpid())).touch()
    wait_until(lambda: len(list(Path(marks).iterdir())) >= together)
    told = {name: os.environ.get(name) for name in (gpus.VISIBLE, gpus.WHICH, "NUMBA_NUM_THREADS")}
    return Outcome({**told, "cupy": "cupy" in sys.modules})


def tell_unless_it_is_the_first(mark: str) -> Outcome:
    if not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return Outcome({"gpu": os.environ.get(gpus.VISIBLE)})


def told_by(processes: int, folder: Path, environments: list[dict[str, str]]) -> list[dict[str, Any]]:
    """Let so many real processes tell which GPU they were given."""
    (folder / "marks").mkdir()
    where = {"marks": str(folder / "marks"), "together": processes}
    jobs = [Job(tell, {"number": number}, "none", "tell", where=where) for number in range(processes)]
    done = run(jobs, Store(folder / "jobs"), pool=LocalPool(processes, environments))
    assert done.failures == {}
    return sorted((done.outcomes[job.key].record for job in jobs), key=lambda record: str(record[gpus.VISIBLE]))


@pytest.mark.slow
@pytest.mark.parametrize(("processes", "each"), [(2, [1, 1]), (4, [2, 2]), (3, [2, 1])])
def test_processes_are_spread_over_the_gpus(tmp_path: Path, processes: int, each: list[int]) -> None:
    found = told_by(processes, tmp_path, TWO)
    given = [record[gpus.VISIBLE] for record in found]
    assert given == ["GPU-aa"] * each[0] + ["GPU-bb"] * each[1]
    assert {(record[gpus.VISIBLE], record[gpus.WHICH]) for record in found} == {
        ("GPU-aa", "1 of 2"),
        ("GPU-bb", "2 of 2"),
    }
    assert not any(record["cupy"] for record in found)  # it would have been too late
    assert all(record["NUMBA_NUM_THREADS"] for record in found)


@pytest.mark.slow
def test_a_single_process_is_left_the_gpu_that_cuda_prefers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [record[gpus.VISIBLE] for record in told_by(1, tmp_path, TWO)] == [None]


@pytest.mark.slow
def test_without_a_choice_of_gpus_nothing_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(gpus.VISIBLE, "GPU-of-the-user")
    assert [record[gpus.VISIBLE] for record in told_by(2, tmp_path, [])] == ["GPU-of-the-user"] * 2
    assert os.environ[gpus.VISIBLE] == "GPU-of-the-user"


@pytest.mark.slow
def test_a_process_that_died_is_started_again_on_its_gpu(tmp_path: Path) -> None:
    (tmp_path / "marks").mkdir()
    busy = Job(tell, {"number": 0}, "none", "busy", where={"marks": str(tmp_path / "marks"), "together": 2})
    dying = Job(tell_unless_it_is_the_first, {}, "none", "dying", where={"mark": str(tmp_path / "died")})
    back: list[Returned] = []
    with Processes(2, None, TWO) as processes:
        for job in (busy, dying):
            processes.hand_out(job)
        wait_until(lambda: back or back.extend(processes.returned(PATIENCE)))
        assert [(one.job.label, one.outcome) for one in back] == [("dying", None)]
        processes.hand_out(dying)  # the other process is still busy
        wait_until(lambda: len(back) > 1 or back.extend(processes.returned(PATIENCE)))
        (tmp_path / "marks" / "go on").touch()
    assert back[1].outcome is not None
    assert back[1].outcome.record == {"gpu": "GPU-bb"}


class Asked(Exception):  # noqa: N818
    """What would have been started."""


@pytest.mark.parametrize(("told", "workers"), [(None, 2), (4, 4), (1, 1)])
def test_a_batch_uses_every_gpu(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, told: int | None, workers: int
) -> None:
    @contextmanager
    def asked(*arguments: Any) -> Any:
        raise Asked(arguments)
        yield

    monkeypatch.setattr(device, "why_not", lambda: None)
    monkeypatch.setattr(gpus, "installed", lambda: [("GPU-aa", 90), ("GPU-bb", 90)])
    monkeypatch.setattr("gradcon.batch.run.pool_for", asked)
    monkeypatch.setattr("gradcon.batch.run.find_scenes", lambda *_: [])
    with pytest.raises(Asked) as caught:
        run_batch([], tmp_path / "out", engine="cuda", workers=told)
    assert caught.value.args[0] == (workers, None, TWO)
    with pytest.raises(Asked) as caught:
        run_batch([], tmp_path / "out", engine="cuda", scheduler="tcp://10.0.0.1:8786")
    assert caught.value.args[0] == (None, "tcp://10.0.0.1:8786", [])  # Dask's workers have GPUs of their own


def test_the_engine_cpu_asks_for_no_gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(gpus, "installed", lambda: pytest.fail("the driver was asked"))
    with pytest.raises(InputError):
        run_batch([tmp_path / "nothing"], tmp_path / "out", engine="cpu")
