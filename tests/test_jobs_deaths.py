"""What fails and who dies: whose fault it was, and that nobody else pays for it."""

from __future__ import annotations

import json
import multiprocessing
import signal
import subprocess
import sys
import time
from concurrent.futures import wait
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
    squares,
    start_if_spared,
    use_gpu,
    wait_for,
    wait_until_gone,
)
from waiting import PATIENCE, wait_until

pytestmark = pytest.mark.slow


class OneBigWorker(Workers):
    """Does two jobs at once; its killer kills it when each of the others has failed once."""

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

    def stop(self, at_once: bool) -> None:
        assert not self.held


def test_who_fails_beside_a_killer_is_given_up_for_its_own_reason(tmp_path: Path) -> None:
    """It fails, is tried again while the killer is there, and dies with it: a third try, by itself, tells."""
    refused, killer = failing("refuse"), failing("die")
    report = run([refused, killer], Store(tmp_path / "jobs"), pool=OneBigWorker())
    assert report.failures == {refused.key: "of its own.", killer.key: "died."}


def test_a_death_beside_others_is_no_try_of_its_own() -> None:
    queue, job = _Queue(), failing("refuse")
    queue.ready.append(job)
    for failure in (Returned(job, failure="died.", suspect=True), Returned(job, failure="of its own.")):
        assert queue.next(last=True) is job
        assert queue.failed(failure) is None
    assert queue.next(last=True) is job
    assert queue.failed(Returned(job, failure="of its own.")) == "of its own."


def test_who_dies_by_itself_is_given_up_at_once() -> None:
    queue, job = _Queue(), failing("die")
    queue.ready.append(job)
    assert queue.next(last=True) is job
    assert queue.failed(Returned(job, failure="died.", suspect=True)) is None
    assert queue.next(last=True) is job
    assert queue.failed(Returned(job, failure="died.", suspect=True)) == "died."


@pytest.mark.parametrize(("workers", "deaths"), [(1, 2), (5, 4), (1, 100)])
def test_who_has_not_begun_is_not_blamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int, deaths: int
) -> None:
    """Processes that are killed while they start; but not for ever."""
    monkeypatch.setattr("gradcon.jobs.runner.RETRIES", 0)
    monkeypatch.setattr(processes, "_start", start_if_spared)
    monkeypatch.setenv(DEATHS, str(tmp_path / "deaths"))
    (tmp_path / "deaths").mkdir()
    for number in range(deaths):
        (tmp_path / "deaths" / str(number)).touch()
    jobs = squares(tmp_path / "marks", 8)
    report = run(jobs, Store(tmp_path / "jobs"), workers=workers)
    if deaths < 100:
        assert (report.computed, report.failures) == (8, {})
    else:
        assert report.failures == {job.key: processes.DIED for job in jobs}
        assert marks(tmp_path / "marks") == []


def test_who_is_stopped_kills_nobody_elses_processes() -> None:
    crew = Processes(1)
    crew.hand_out(failing("raise"))
    other = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(PATIENCE,))
    other.start()
    (child,) = crew._crew[0].pool._processes.values()
    crew.stop(at_once=True)
    child.join(PATIENCE)
    assert not child.is_alive()
    assert other.is_alive()
    other.kill()


def test_a_failing_job_stops_no_other(tmp_path: Path) -> None:
    jobs = squares(tmp_path / "marks")
    bad = [failing("raise"), failing("refuse")]
    report = run([jobs[0], *bad, *jobs[1:]], Store(tmp_path / "jobs"), workers=2)
    assert report.computed == 6
    assert report.failures == {bad[0].key: "ZeroDivisionError: by zero", bad[1].key: "photo.png: is not an image."}


def test_only_the_job_that_kills_its_worker_is_given_up(tmp_path: Path) -> None:
    jobs = squares(tmp_path / "marks", seconds=0.05)
    killer = failing("die")
    report = run([*jobs[:2], killer, *jobs[2:]], Store(tmp_path / "jobs"), workers=2)
    assert sorted(report.outcomes) == sorted(job.key for job in jobs)
    assert list(report.failures) == [killer.key]
    assert "died" in report.failures[killer.key]


def test_what_fails_is_tried_again_after_the_others(tmp_path: Path) -> None:
    weak = Job(fail_at_first, {"mark": str(tmp_path / "mark")}, "none", "weak")
    jobs = squares(tmp_path / "marks", 3)
    report = run([weak, *jobs], Store(tmp_path / "jobs"), workers=1)
    assert report.failures == {}
    assert list(report.outcomes) == [job.key for job in [*jobs, weak]]


def test_who_waits_behind_a_killer_is_innocent(tmp_path: Path) -> None:
    """Two processes die, and both times the same job was the next in their queue."""
    killers = [Job(die_once, {"mark": str(tmp_path / f"mark{k}")}, "none", f"killer {k}") for k in range(3)]
    jobs = squares(tmp_path / "marks", 1)
    report = run([killers[0], jobs[0], *killers[1:]], Store(tmp_path / "jobs"), workers=1)
    assert report.failures == {}
    assert report.computed == 4


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
        (child,) = processes._crew[0].pool._processes.values()
        assert Returned(endless) in processes.returned(PATIENCE)
        child.join(PATIENCE)
        assert not child.is_alive()


def test_half_an_outcome_is_waited_for_by_nobody(tmp_path: Path) -> None:
    """In a process of its own, which would wait for ever."""
    command = [sys.executable, "-c", SENDING, str(Path(__file__).parent), str(tmp_path)]
    found = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert found.stdout == "3\n", found.stderr
    assert (tmp_path / "mark").exists()


def test_a_process_that_dies_before_its_first_job_costs_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradcon.jobs.runner.RETRIES", 0)
    report = run(squares(tmp_path / "marks"), Store(tmp_path / "jobs"), workers=2, warm_up=die)
    assert (report.computed, report.failures) == (6, {})


def test_a_process_that_lost_its_gpu_is_replaced(tmp_path: Path) -> None:
    jobs = [Job(use_gpu, {"number": number, "fails": number == 1}, "none", "job") for number in range(5)]
    report = run(jobs, Store(tmp_path / "jobs"), workers=1)
    assert report.failures == {jobs[1].key: "cuda: the GPU failed."}
    assert report.computed == 4


def test_who_fails_behind_a_job_that_lost_the_gpu_is_innocent() -> None:
    first, behind = (Job(use_gpu, {"number": number, "fails": number == 0}, "none", "job") for number in range(2))
    with Processes(1) as processes:
        processes.hand_out(first)
        processes.hand_out(behind)
        (held,) = processes._crew
        wait(held.jobs, timeout=PATIENCE)  # both have failed before either comes back
        assert processes.returned(60) == [Returned(first, failure="cuda: the GPU failed."), Returned(behind)]


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
    run(job_kinds.squares(folder / "marks", 60, 0.15), Store(folder / "jobs"), workers=2)
    print("done")
"""


def start(tmp_path: Path) -> subprocess.Popen[str]:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(Path(__file__).parent), str(tmp_path)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see whether processes are gone")
def test_kill_9_loses_only_what_was_in_flight(tmp_path: Path) -> None:
    """At several moments of a run, again and again in the same folder, until it comes to its end."""
    done = 0
    for more in (0, 1, 3, 2):  # of 60, to be finished before the next kill
        process = start(tmp_path)
        wait_until(lambda: len(finished(tmp_path)) >= done + more, pause=0.01)  # noqa: B023
        workers = children(process.pid)
        assert len(workers) >= 2 or more == 0
        process.kill()
        process.wait()
        wait_until_gone(workers)
        for path in finished(tmp_path):
            json.loads(path.read_text())  # whole
        assert len(finished(tmp_path)) >= done + more
        done = len(finished(tmp_path))
    assert done < 60
    output, errors = start(tmp_path).communicate(timeout=PATIENCE)
    assert output == "done\n", errors
    report = run(squares(tmp_path / "marks", 60, 0.15), Store(tmp_path / "jobs"), workers=1)
    assert (report.reused, report.computed) == (60, 0)
    assert len(marks(tmp_path / "marks")) <= 60 + 4 * 2 * 2  # in each killed run at most two a worker were lost


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see whether processes are gone")
def test_ctrl_c_ends_at_once_and_keeps_what_is_done(tmp_path: Path) -> None:
    process = start(tmp_path)
    wait_until(lambda: list((tmp_path / "jobs").glob("*.json")))
    workers = children(process.pid)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert process.returncode != 0
    wait_until_gone(workers)
    assert 1 <= len(finished(tmp_path)) < 60
    assert not list((tmp_path / "jobs").glob("*.tmp"))


def test_no_process_is_left_behind(tmp_path: Path) -> None:
    run(squares(tmp_path / "marks", 2), Store(tmp_path / "jobs"), workers=2)
    assert multiprocessing.active_children() == []
