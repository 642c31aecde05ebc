"""Jobs that fail and workers that die: the right job is blamed, and no other pays for it."""

from __future__ import annotations

import json
import multiprocessing
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gradcon.jobs import Job, Store, processes, run
from gradcon.jobs.processes import Processes
from gradcon.jobs.runner import _Queue
from gradcon.jobs.workers import Returned, WarmUp, Workers
from job_kinds import (
    DEATHS,
    children,
    die,
    die_once,
    fail_at_first,
    failing,
    finished,
    marks,
    serve_if_spared,
    squares,
    use_gpu,
    wait_for,
    wait_until_gone,
)
from waiting import PATIENCE, wait_until

pytestmark = pytest.mark.slow


def all_returned(workers: Workers, count: int) -> list[Returned]:
    """Wait until this many jobs have come back."""
    back: list[Returned] = []
    wait_until(lambda: len(back) >= count or back.extend(workers.returned(PATIENCE)))
    return back


class OneBigWorker(Workers):
    """Does two jobs at once; a killer kills it when each of the other jobs has failed once."""

    size = 2

    def __init__(self) -> None:
        self.held: list[Job] = []
        self.tried: set[str] = set()

    def workers(self, jobs: int, warm_up: WarmUp | None = None, alone: bool = False) -> OneBigWorker:
        return self

    def room(self, ahead: bool = True) -> bool:
        return len(self.held) < self.size

    def hand_out(self, job: Job) -> None:
        self.held.append(job)

    def returned(self, timeout: float | None) -> list[Returned]:
        fresh = [job for job in self.held if job.parameters["how"] != "die" and job.key not in self.tried]
        if fresh:
            self.tried.add(fresh[0].key)
            self.held.remove(fresh[0])
            return [Returned(fresh[0], failure="of its own.")]
        back, self.held = self.held, []
        if any(job.parameters["how"] == "die" for job in back):
            return [Returned(job, failure="died.", suspect=True) for job in back]
        return [Returned(job, failure="of its own.") for job in back]

    def stop(self) -> None:
        assert not self.held


def test_a_job_that_fails_beside_a_killer_is_given_up_for_its_own_reason(tmp_path: Path) -> None:
    """It fails, is tried again beside the killer and dies with it: only a third try, by itself, tells."""
    refused, killer = failing("refuse"), failing("die")
    done = run([refused, killer], Store(tmp_path / "jobs"), pool=OneBigWorker())
    assert done.failures == {refused.key: "of its own.", killer.key: "died."}


def test_a_death_beside_other_jobs_does_not_count_as_a_try() -> None:
    queue, job = _Queue(), failing("refuse")
    queue.ready.append(job)
    for failure in (Returned(job, failure="died.", suspect=True), Returned(job, failure="of its own.")):
        assert queue.next(last=True) is job
        assert queue.failed(failure) is None
    assert queue.next(last=True) is job
    assert queue.failed(Returned(job, failure="of its own.")) == "of its own."


def test_a_job_that_kills_its_worker_alone_is_given_up_at_once() -> None:
    queue, job = _Queue(), failing("die")
    queue.ready.append(job)
    assert queue.next(last=True) is job
    assert queue.failed(Returned(job, failure="died.", suspect=True)) is None
    assert queue.next(last=True) is job
    assert queue.failed(Returned(job, failure="died.", suspect=True)) == "died."


@pytest.mark.parametrize(("workers", "deaths", "count"), [(1, 2, 3), (3, 2, 4), (1, 100, 2)])
def test_a_job_that_has_not_begun_is_not_blamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int, deaths: int, count: int
) -> None:
    """Processes may be killed while they start, but not for ever."""
    monkeypatch.setattr("gradcon.jobs.runner.RETRIES", 0)
    monkeypatch.setattr(processes, "MOST_STILLBORN", 3)
    monkeypatch.setattr(processes, "_serve", serve_if_spared)
    monkeypatch.setenv(DEATHS, str(tmp_path / "deaths"))
    (tmp_path / "deaths").mkdir()
    for number in range(deaths):
        (tmp_path / "deaths" / str(number)).touch()
    jobs = squares(tmp_path / "marks", count)
    done = run(jobs, Store(tmp_path / "jobs"), workers=workers)
    if deaths < 100:
        assert (done.computed, done.failures) == (count, {})
    else:
        assert done.failures == {job.key: processes.DIED for job in jobs}
        assert marks(tmp_path / "marks") == []


def test_stopping_kills_no_other_processes() -> None:
    crew = Processes(1)
    crew.hand_out(failing("raise"))
    other = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(PATIENCE,))
    other.start()
    child = crew._processes[0].child
    assert child is not None
    crew.stop()
    assert not child.is_alive()
    assert other.is_alive()
    other.kill()


def test_a_failing_job_does_not_stop_the_others(tmp_path: Path) -> None:
    jobs = squares(tmp_path / "marks")
    bad = [failing("raise"), failing("refuse")]
    done = run([jobs[0], *bad, *jobs[1:]], Store(tmp_path / "jobs"), workers=2)
    assert done.computed == 6
    why = done.failures.pop(bad[0].key)
    assert re.fullmatch(r"ZeroDivisionError: by zero \(.*job_kinds\.py:\d+\)", why)
    assert done.failures == {bad[1].key: "photo.png: is not an image."}


def test_only_the_job_that_kills_its_worker_is_given_up(tmp_path: Path) -> None:
    jobs = squares(tmp_path / "marks")
    killer = failing("die")
    done = run([*jobs[:2], killer, *jobs[2:]], Store(tmp_path / "jobs"), workers=2)
    assert sorted(done.outcomes) == sorted(job.key for job in jobs)
    assert list(done.failures) == [killer.key]
    assert "died" in done.failures[killer.key]


def test_a_failed_job_is_tried_again_after_the_others(tmp_path: Path) -> None:
    weak = Job(fail_at_first, {"mark": str(tmp_path / "mark")}, "none", "weak")
    jobs = squares(tmp_path / "marks", 3)
    done = run([weak, *jobs], Store(tmp_path / "jobs"), workers=1)
    assert done.failures == {}
    assert list(done.outcomes) == [job.key for job in [*jobs, weak]]


def test_a_job_behind_a_killer_is_innocent(tmp_path: Path) -> None:
    """Two processes die, and both times the same job was next in their queue."""
    killers = [Job(die_once, {"mark": str(tmp_path / f"mark{k}")}, "none", f"killer {k}") for k in range(3)]
    jobs = squares(tmp_path / "marks", 1)
    done = run([killers[0], jobs[0], *killers[1:]], Store(tmp_path / "jobs"), workers=1)
    assert done.failures == {}
    assert done.computed == 4


SENDING = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import job_kinds
from gradcon.jobs import Job, Store, run
folder = Path(sys.argv[2])
job = Job(job_kinds.die_while_sending, {"mark": str(folder / "mark")}, "none", "killer")
print(run([job, *job_kinds.squares(folder / "marks", 2)], Store(folder / "jobs"), workers=1).computed)
"""


def test_a_process_that_lost_its_gpu_ends_whatever_it_does(tmp_path: Path) -> None:
    lost = Job(use_gpu, {"number": 0, "fails": True}, "none", "job")
    endless = Job(wait_for, {"mark": str(tmp_path / "never")}, "none", "job")
    with Processes(1) as processes:
        processes.hand_out(lost)
        processes.hand_out(endless)
        child = processes._processes[0].child
        assert child is not None
        assert Returned(endless) in all_returned(processes, 2)
        child.join(PATIENCE)
        assert not child.is_alive()


def test_nobody_waits_for_the_rest_of_half_an_outcome(tmp_path: Path) -> None:
    """This runs in a process of its own, which would wait for ever."""
    command = [sys.executable, "-c", SENDING, str(Path(__file__).parent), str(tmp_path)]
    found = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert found.stdout == "3\n", found.stderr
    assert (tmp_path / "mark").exists()


def test_a_process_that_dies_before_its_first_job_loses_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradcon.jobs.runner.RETRIES", 0)
    done = run(squares(tmp_path / "marks"), Store(tmp_path / "jobs"), workers=2, warm_up=die)
    assert (done.computed, done.failures) == (6, {})


def test_a_process_that_lost_its_gpu_is_replaced(tmp_path: Path) -> None:
    jobs = [Job(use_gpu, {"number": number, "fails": number == 1}, "none", "job") for number in range(5)]
    done = run(jobs, Store(tmp_path / "jobs"), workers=1)
    assert done.failures == {jobs[1].key: "cuda: the GPU failed."}
    assert done.computed == 4


def test_a_job_that_fails_behind_one_that_lost_the_gpu_is_innocent(tmp_path: Path) -> None:
    first = Job(use_gpu, {"number": 0, "fails": True}, "none", "job")
    behind = Job(use_gpu, {"number": 1, "fails": False, "mark": str(tmp_path / "mark")}, "none", "job")
    with Processes(1) as processes:
        processes.hand_out(first)
        processes.hand_out(behind)
        wait_until((tmp_path / "mark").exists)  # both have failed before either comes back
        assert all_returned(processes, 2) == [Returned(first, failure="cuda: the GPU failed."), Returned(behind)]


SCRIPT = """
import signal
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import job_kinds
from gradcon.jobs import Store, run
if __name__ == "__main__":
    # A shell that started the tests in the background has them ignore SIGINT; this must not inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = Path(sys.argv[2])
    run(job_kinds.squares(folder / "marks", 12, folder / "gate"), Store(folder / "jobs"), workers=2)
    print("done")
"""


def start(tmp_path: Path, gate: int) -> subprocess.Popen[str]:
    """Start a run of twelve jobs; only the first ones can end, as many as `gate` says."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    (tmp_path / "gate").write_text(str(gate))
    command = [sys.executable, str(script), str(Path(__file__).parent), str(tmp_path)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see whether processes are gone")
def test_kill_9_loses_only_what_was_in_flight(tmp_path: Path) -> None:
    """Kill runs at several moments, one after the other in the same folder, until one comes to its end."""
    for gate in (1, 4, 6):
        process = start(tmp_path, gate)
        wait_until(lambda: len(finished(tmp_path)) == gate, pause=0.01)  # noqa: B023
        workers = children(process.pid)
        assert len(workers) >= 2
        process.kill()
        process.wait()
        wait_until_gone(workers)
        assert len(finished(tmp_path)) == gate
        for path in finished(tmp_path):
            json.loads(path.read_text())  # whole
    output, errors = start(tmp_path, gate=12).communicate(timeout=PATIENCE)
    assert output == "done\n", errors
    done = run(squares(tmp_path / "marks", 12), Store(tmp_path / "jobs"), workers=1)
    assert (done.reused, done.computed) == (12, 0)
    assert marks(tmp_path / "marks") == list(range(12))  # none was done twice


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see whether processes are gone")
def test_ctrl_c_ends_at_once_and_keeps_what_is_done(tmp_path: Path) -> None:
    process = start(tmp_path, gate=1)
    wait_until(lambda: finished(tmp_path))
    workers = children(process.pid)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode != 0
    assert errors.count("KeyboardInterrupt") == 1  # none of a worker
    wait_until_gone(workers)
    assert len(finished(tmp_path)) == 1
    assert not list((tmp_path / "jobs").glob("*.tmp"))


def test_no_process_is_left_behind(tmp_path: Path) -> None:
    run(squares(tmp_path / "marks", 2), Store(tmp_path / "jobs"), workers=2)
    assert multiprocessing.active_children() == []
