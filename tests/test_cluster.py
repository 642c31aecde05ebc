"""A real Dask cluster on loopback: its workers do the work, and the work survives them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("distributed", reason="Dask is missing: install the extra cluster")

from batch_scenes import QUICK, leftovers, results, resume, start_batch, write_scenes
from gradcon import Options, estimate, synth
from gradcon.cli import main
from gradcon.errors import InputError
from gradcon.extras import install_extra
from gradcon.jobs import Job, Store, cluster, run, scheduler
from gradcon.jobs.cluster import Cluster
from job_kinds import children, failing, many_bytes, use_gpu
from waiting import PATIENCE, wait_until

pytestmark = pytest.mark.slow

TESTS = str(Path(__file__).parent)
COUNT = 6  # scenes, more than are done before something is killed


def command_of(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


class Started:
    """A scheduler and its workers, started the way a user starts them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        # Give up a job after the second worker that it kills.
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([TESTS, *filter(None, [os.environ.get("PYTHONPATH")])]),
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
        }
        self.processes: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start("scheduler", "--port", "0", "--dashboard-address", "127.0.0.1:0")
        wait_until(lambda: self.file.exists() and self.file.read_text())

    def worker(self) -> subprocess.Popen[bytes]:
        return self._start("worker", "--nthreads", "1", "--no-dashboard", "--local-directory", str(self.folder))

    def first_worker(self) -> int:
        """Return the process that the first worker's nanny has started."""
        (worker,) = [pid for pid in children(self.processes[1].pid) if b"spawn_main" in command_of(pid)]
        return worker

    def _start(self, what: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", what, "--host", "127.0.0.1", "--scheduler-file", str(self.file)]
        with open(self.folder / f"{what}.log", "ab") as log:
            process = subprocess.Popen([*command, *options], stdout=log, stderr=log, env=self.environment)
        self.processes.append(process)
        return process

    def stop(self) -> None:
        """Kill everything at once: a nanny that is just starting a worker would take its time."""
        for process in reversed(self.processes):
            workers = children(process.pid)
            process.kill()
            process.wait()
            for pid in workers:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    started = Started(tmp_path_factory.mktemp("cluster"))
    started.worker()
    started.worker()
    try:
        with pytest.MonkeyPatch.context() as patient:
            patient.setattr(cluster, "WAIT_FOR_WORKERS_SECONDS", PATIENCE)  # a busy machine starts them slowly
            wait_for_two(started)
            yield started
    finally:
        started.stop()


def wait_for_two(started: Started) -> None:
    with Cluster(str(started.file)) as connected:
        wait_until(lambda: connected.threads() >= 2)


def done(out: Path) -> int:
    return len(list((out / "jobs").glob("*.json")))


def start_and_pause(scenes: Path, out: Path, scheduler: Path) -> subprocess.Popen[str]:
    """Start a batch on a cluster, and wait until it has kept two results."""
    process = start_batch(scenes, out, "--scheduler", str(scheduler), pause_after=2)
    wait_until(lambda: done(out) == 2 or process.poll() is not None)
    assert process.poll() is None, process.communicate()[1]
    return process


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to find the worker")
def test_a_worker_killed_in_the_middle_loses_nothing(two_workers: Started, tmp_path: Path) -> None:
    write_scenes(tmp_path / "in", COUNT)
    out, here = tmp_path / "out", tmp_path / "here"
    process = start_and_pause(tmp_path / "in", out, two_workers.file)
    os.kill(two_workers.first_worker(), signal.SIGKILL)
    resume(out)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    assert f"{COUNT} of {COUNT} scenes" in errors
    assert start_batch(tmp_path / "in", here).wait(timeout=PATIENCE) == 0
    assert len(results(out)) == COUNT * 8
    assert results(out) == results(here)
    assert not leftovers(out)
    # Without the cluster, the results are found done: the key does not depend on where a job was done.
    again = start_batch(tmp_path / "in", out, "--json")
    told = json.loads(again.communicate(timeout=PATIENCE)[0])
    assert (told["computed"], told["reused"]) == (0, COUNT)


def test_a_large_outcome_may_take_its_time(
    two_workers: Started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "LOOK_SECONDS", 1e-3)  # it does other things in between, this often
    job = Job(many_bytes, {"count": 30_000_000}, "none", "large")
    with Cluster(str(two_workers.file)) as pool:
        outcomes = run([job], Store(tmp_path / "jobs"), pool=pool)
    assert (outcomes.computed, outcomes.failures) == (1, {})


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to find the worker")
def test_a_worker_that_hangs_is_not_waited_for(two_workers: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "ANSWER_SECONDS", 0.1)
    wait_for_two(two_workers)
    worker = two_workers.first_worker()
    os.kill(worker, signal.SIGSTOP)
    try:
        with Cluster(str(two_workers.file)) as connected:
            assert connected.size == 2
    finally:
        os.kill(worker, signal.SIGCONT)


def test_workers_must_be_absent_for_a_while_before_the_run_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeing none once, after a long time without a look, is not enough: a worker may be just restarting."""

    class Empty:
        address, size = "tcp://127.0.0.1:8786", 2

        def threads(self) -> int:
            return 0

    now = 1000.0
    monkeypatch.setattr(cluster, "time", SimpleNamespace(monotonic=lambda: now))
    workers = cluster.ClusterWorkers(Empty(), alone=False)  # type: ignore[arg-type]
    now += 10 * cluster.WITHOUT_WORKERS_SECONDS
    assert workers.room()
    now += cluster.WITHOUT_WORKERS_SECONDS / 2
    assert workers.room()
    now += cluster.WITHOUT_WORKERS_SECONDS
    with pytest.raises(InputError, match="all workers are gone"):
        workers.room()


def test_a_worker_that_lost_its_gpu_makes_room_for_a_new_one(two_workers: Started, tmp_path: Path) -> None:
    jobs = [Job(use_gpu, {"number": number, "fails": number == 1}, "none", "job") for number in range(8)]
    with Cluster(str(two_workers.file)) as pool:
        outcomes = run(jobs, Store(tmp_path / "jobs"), pool=pool)
    assert outcomes.failures == {jobs[1].key: "cuda: the GPU failed."}  # not "killed, or out of memory"
    assert outcomes.computed == 7
    wait_for_two(two_workers)


def test_failures_are_reported_and_a_killer_is_given_up(two_workers: Started, tmp_path: Path) -> None:
    bad = [failing("raise"), failing("refuse"), failing("die")]
    with Cluster(str(two_workers.file)) as pool:
        outcomes = run(bad, Store(tmp_path / "jobs"), pool=pool)
    assert outcomes.failures.pop(bad[0].key).startswith("ZeroDivisionError: by zero (")  # followed by the line
    assert outcomes.failures == {
        bad[1].key: "photo.png: is not an image.",
        bad[2].key: "2 workers in a row died while doing it: they were killed, or ran out of memory.",
    }


def test_a_worker_with_another_gradcon_is_named(two_workers: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    wait_for_two(two_workers)
    monkeypatch.setattr("gradcon.jobs.workers.sources", lambda: "other sources")
    with pytest.raises(InputError, match=r"^worker tcp://127\.0\.0\.1:\d+: runs a gradcon .* whose sources differ"):
        Cluster(str(two_workers.file))


def refusal(scenes: Path, out: Path, scheduler: object, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(["batch", str(scenes), "--out", str(out), *QUICK, "--scheduler", str(scheduler)]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1, errors
    return errors.removeprefix("gradcon: ")


def test_a_wrong_scheduler_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scheduler, "CONNECT_SECONDS", 1.0)
    write_scenes(tmp_path / "in", 1)
    (tmp_path / "notes.txt").write_text("no scheduler file")
    silent = socket.create_server(("127.0.0.1", 0))  # accepts connections and says nothing
    for address, said in (
        ("tcp://127.0.0.1:9", "tcp://127.0.0.1:9: the scheduler cannot be reached (no scheduler answers there)"),
        (f"127.0.0.1:{silent.getsockname()[1]}", "the scheduler cannot be reached (no scheduler answers there)"),
        ("here", "scheduler: 'here' is neither an address nor a file; give an address such as tcp://127.0.0.1:8786"),
        (tmp_path / "notes.txt", "is not a scheduler file; give one that dask scheduler --scheduler-file wrote"),
    ):
        assert said in refusal(tmp_path / "in", tmp_path / "out", address, capsys)
    silent.close()
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert install_extra("cluster") in refusal(tmp_path / "in", tmp_path / "out", "127.0.0.1:9", capsys)
    assert not (tmp_path / "out").exists()


def test_a_notebook_has_a_loop_of_its_own(two_workers: Started) -> None:
    async def cell() -> int:
        with Cluster(str(two_workers.file)) as connected:
            return connected.threads()

    assert asyncio.run(cell()) >= 1


def test_a_scheduler_without_workers_and_one_that_dies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_scenes(tmp_path / "in", COUNT)
    out, started = tmp_path / "out", Started(tmp_path)
    try:
        with monkeypatch.context() as impatient:
            impatient.setattr(cluster, "WAIT_FOR_WORKERS_SECONDS", 0.3)
            said = refusal(tmp_path / "in", out, started.file, capsys)
        assert "the scheduler has no workers; start some: dask worker" in said
        assert not out.exists()
        started.worker()
        monkeypatch.setattr(cluster, "WAIT_FOR_WORKERS_SECONDS", PATIENCE)
        Cluster(str(started.file)).close()  # the worker is there
        process = start_and_pause(tmp_path / "in", out, started.file)
        started.scheduler.kill()
        started.scheduler.wait()
        resume(out)
        _, errors = process.communicate(timeout=PATIENCE)
    finally:
        started.stop()
    assert process.returncode == 2, errors
    assert "the connection to the scheduler is lost, but finished jobs are kept" in errors.splitlines()[-1]
    assert "Traceback" not in errors
    assert 2 <= done(out) < COUNT
    assert not leftovers(out)
    assert start_batch(tmp_path / "in", out).wait(timeout=PATIENCE) == 0


def test_two_threads_give_the_same_estimates_as_one() -> None:
    """A Dask worker with two threads runs them like this, each with one thread of Numba."""
    import numba

    scenes = [synth.render("planes", size=(48, 48), views=5, seed=seed) for seed in range(2)]
    expected = [estimate(scene, Options("gcm", solves=3), engine="cpu").disparity for scene in scenes]
    found: dict[int, list[np.ndarray]] = {0: [], 1: []}

    def work(k: int) -> None:
        numba.set_num_threads(1)
        for _ in range(3):
            found[k].append(estimate(scenes[k], Options("gcm", solves=3), engine="cpu").disparity)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(disparity, expected[k]) for k in range(2) for disparity in found[k])
    assert [len(some) for some in found.values()] == [3, 3]
