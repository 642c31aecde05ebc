"""The job runner: everything is done once, whatever dies."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import wait
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradcon.errors import DeviceError, InputError
from gradcon.jobs import Job, Outcome, Store, run
from gradcon.jobs.display import Progress
from gradcon.jobs.processes import Processes, cores
from gradcon.jobs.workers import Returned, WarmUp, Workers
from waiting import PATIENCE, wait_until


def square(x: int, folder: str, seconds: float = 0.0) -> Outcome:
    """Leaves a mark for every time it runs."""
    time.sleep(seconds)
    (Path(folder) / f"{x}-{os.getpid()}-{time.monotonic_ns()}").touch()
    return Outcome(
        {"square": x * x, "threads": os.environ["NUMBA_NUM_THREADS"]}, {"row": np.arange(x)} if x % 2 else {}
    )


def fail(how: str) -> Outcome:
    if how == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    raise InputError("photo.png: is not an image.") if how == "refuse" else ZeroDivisionError("by zero")


def squares(folder: Path, count: int = 6, seconds: float = 0.0) -> list[Job]:
    folder.mkdir(exist_ok=True)
    where = {"folder": str(folder), "seconds": seconds}
    return [Job(square, {"x": x}, "none", f"square {x}", where=where) for x in range(count)]


def failing(how: str) -> Job:
    return Job(fail, {"how": how}, "none", f"fails by {how}")


def marks(folder: Path) -> list[int]:
    return sorted(int(path.name.split("-")[0]) for path in folder.iterdir())


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
    report = run([refused, killer], Store(tmp_path / "jobs"), machine=OneBigWorker())
    assert report.failures == {refused.key: "of its own.", killer.key: "died."}


def test_jobs_are_done_once_and_found_again(tmp_path: Path) -> None:
    jobs = squares(tmp_path / "marks")
    first = run([*jobs, *jobs], Store(tmp_path / "jobs"), workers=2)
    assert marks(tmp_path / "marks") == [0, 1, 2, 3, 4, 5]
    assert (first.computed, first.reused, first.failures) == (6, 0, {})
    again = run(jobs, Store(tmp_path / "jobs"), workers=2)
    assert marks(tmp_path / "marks") == [0, 1, 2, 3, 4, 5]
    assert (again.computed, again.reused) == (0, 6)
    for x, job in enumerate(jobs):
        one, other = first[job], again[job]
        assert one is not None
        assert other is not None
        assert other.record == one.record
        assert other.record["square"] == x * x
        assert all(np.array_equal(other.arrays[name], one.arrays[name]) for name in one.arrays)
        assert list(other.arrays) == (["row"] if x % 2 else [])


def test_the_key_is_what_the_outcome_depends_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job(square, {"x": 1}, "abc", "one", where={"folder": "here"})
    assert Job(square, {"x": 1}, "abc", "uno", where={"folder": "there"}, cost=9).key == job.key
    assert Job(square, {"x": 2}, "abc", "one").key != job.key
    assert Job(square, {"x": 1}, "abd", "one").key != job.key
    assert Job(fail, {"x": 1}, "abc", "one").key != job.key
    monkeypatch.setattr("gradcon.jobs.job.model_sha256", lambda: "another model")
    assert Job(square, {"x": 1}, "abc", "one").key != job.key


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


def fail_at_first(mark: str) -> Outcome:
    """The first time it is tried."""
    if not Path(mark).exists():
        Path(mark).touch()
        raise OSError("the network was away")
    return Outcome({})


def test_what_fails_is_tried_again_after_the_others(tmp_path: Path) -> None:
    weak = Job(fail_at_first, {"mark": str(tmp_path / "mark")}, "none", "weak")
    jobs = squares(tmp_path / "marks", 3)
    report = run([weak, *jobs], Store(tmp_path / "jobs"), workers=1)
    assert report.failures == {}
    assert list(report.outcomes) == [job.key for job in [*jobs, weak]]


def die_once(mark: str) -> Outcome:
    if not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return Outcome({})


def test_who_waits_behind_a_killer_is_innocent(tmp_path: Path) -> None:
    """Two processes die, and both times the same job was the next in their queue."""
    killers = [Job(die_once, {"mark": str(tmp_path / f"mark{k}")}, "none", f"killer {k}") for k in range(3)]
    jobs = squares(tmp_path / "marks", 1)
    report = run([killers[0], jobs[0], *killers[1:]], Store(tmp_path / "jobs"), workers=1)
    assert report.failures == {}
    assert report.computed == 4


def die_while_sending(mark: str) -> Outcome:
    """The first time, with half of the outcome sent."""
    from multiprocessing.connection import Connection

    def send_half(connection: Any, content: bytes) -> None:
        os.write(connection.fileno(), content[: len(content) // 2])
        os.kill(os.getpid(), signal.SIGKILL)

    if not Path(mark).exists():
        Path(mark).touch()
        Connection._send = send_half  # type: ignore[attr-defined]
    return Outcome({}, {"row": np.arange(9)})


SENDING = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import test_jobs
from gradcon.jobs import Job, Store, run
folder = Path(sys.argv[2])
job = Job(test_jobs.die_while_sending, {"mark": str(folder / "mark")}, "none", "killer")
print(run([job, *test_jobs.squares(folder / "marks", 2)], Store(folder / "jobs"), workers=1).computed)
"""


def test_half_an_outcome_is_waited_for_by_nobody(tmp_path: Path) -> None:
    """In a process of its own, which would wait for ever."""
    command = [sys.executable, "-c", SENDING, str(Path(__file__).parent), str(tmp_path)]
    found = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert found.stdout == "3\n", found.stderr
    assert (tmp_path / "mark").exists()


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_dies_before_its_first_job_costs_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradcon.jobs.runner.RETRIES", 0)
    report = run(squares(tmp_path / "marks"), Store(tmp_path / "jobs"), workers=2, warm_up=die)
    assert (report.computed, report.failures) == (6, {})


gpu_is_lost = False


def use_gpu(number: int, fails: bool) -> Outcome:
    global gpu_is_lost  # noqa: PLW0603
    gpu_is_lost = gpu_is_lost or fails
    if gpu_is_lost:
        raise DeviceError("cuda: the GPU failed.")
    return Outcome({})


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


def test_jobs_are_made_while_others_are_done(tmp_path: Path) -> None:
    """And not all of them before the first is handed out, for each may have much to hash."""
    ahead: list[int] = []

    def made() -> Iterator[Job]:
        for number, job in enumerate(squares(tmp_path / "marks", 12, 0.02)):
            ahead.append(number - len(finished(tmp_path)))
            yield job

    report = run(made(), Store(tmp_path / "jobs"), workers=1, total=12)
    assert report.computed == 12
    assert max(ahead) <= 4


def test_files_go_where_people_look_for_them(tmp_path: Path) -> None:
    job = Job(write_text, {"text": "abc"}, "none", "text")
    report = run([job], Store(tmp_path / "jobs", root=tmp_path), workers=1)
    assert (tmp_path / "one" / "a.txt").read_bytes() == b"abc"
    outcome = report[job]
    assert outcome is not None
    assert outcome.files == {}  # or all results of a long run would be held in memory
    assert Store(tmp_path / "jobs", root=tmp_path).load(job) is not None
    (tmp_path / "two" / "b.txt").write_bytes(b"ab?")
    store = Store(tmp_path / "jobs", root=tmp_path)
    assert store.load(job) is None
    assert store.damaged == [f"{tmp_path / 'two' / 'b.txt'}: does not hold what was written into it."]


def write_text(text: str) -> Outcome:
    return Outcome({}, files={"one/a.txt": text.encode(), "two/b.txt": text.encode()})


def test_a_worker_of_another_gradcon_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradcon.jobs.workers.model_sha256", lambda: "another model")
    with pytest.raises(InputError, match=r"^worker: runs a gradcon .* of other sources; install the same one there\.$"):
        run(squares(tmp_path / "marks"), Store(tmp_path / "jobs"), workers=2)
    assert marks(tmp_path / "marks") == []
    wait_until_gone([child.pid for child in multiprocessing.active_children() if child.pid])


@pytest.mark.parametrize("damage", ["cut", "empty", "edited", "swapped", "no arrays", "other arrays"])
def test_a_damaged_outcome_is_named_and_computed_again(tmp_path: Path, damage: str) -> None:
    jobs = squares(tmp_path / "marks", 4)
    run(jobs, Store(tmp_path / "jobs"), workers=1)
    file, arrays = (tmp_path / "jobs" / f"{jobs[3].key}.{end}" for end in ("json", "npz"))
    if damage == "cut":
        file.write_bytes(file.read_bytes()[:100])
    elif damage == "empty":
        file.write_bytes(b"")
    elif damage == "edited":
        file.write_text(file.read_text().replace('"square": 9', '"square": 8'))
    elif damage == "swapped":
        file.write_bytes((tmp_path / "jobs" / f"{jobs[2].key}.json").read_bytes())
    elif damage == "no arrays":
        arrays.unlink()
    else:
        arrays.write_bytes(arrays.read_bytes()[:-1] + b"?")
    store = Store(tmp_path / "jobs")
    report = run(jobs, store, workers=1)
    assert (report.computed, report.reused) == (1, 3)
    assert len(store.damaged) == 1
    assert jobs[3].key in store.damaged[0]
    outcome = report[jobs[3]]
    assert outcome is not None
    assert outcome.record["square"] == 9
    assert Store(tmp_path / "jobs").load(jobs[3]) is not None


def test_workers_share_the_cores(tmp_path: Path) -> None:
    for workers, alone in ((1, False), (cores(), False), (cores(), True)):
        jobs = [
            Job(square, {"x": x}, f"{workers} {alone}", "job", where={"folder": str(tmp_path)}, alone=alone)
            for x in range(4)
        ]
        report = run(jobs, Store(tmp_path / "jobs"), workers=workers)
        threads = {outcome.record["threads"] for outcome in report.outcomes.values()}
        assert threads == {str(1 if workers > 1 and not alone else cores())}


SCRIPT = """
import signal
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import test_jobs
from gradcon.jobs import Store, run
if __name__ == "__main__":
    # A shell that started the tests in the background has them ignore SIGINT; this must not inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = Path(sys.argv[2])
    run(test_jobs.squares(folder / "marks", 12, 0.15), Store(folder / "jobs"), workers=2)
    print("done")
"""


def start(tmp_path: Path) -> subprocess.Popen[str]:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(Path(__file__).parent), str(tmp_path)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(folder: Path) -> list[Path]:
    return list((folder / "jobs").glob("[0-9a-f]*.json"))


def status(pid: int | str) -> list[str]:
    """State, parent and so on of a process; nothing if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def children(pid: int) -> list[int]:
    processes = [path.name for path in Path("/proc").iterdir() if path.name.isdecimal()]
    return [int(name) for name in processes if status(name)[1:2] == [str(pid)]]


def wait_until_gone(pids: list[int]) -> None:
    """No process is left an orphan."""
    wait_until(lambda: all(status(pid)[:1] in ([], ["Z"]) for pid in pids))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see whether processes are gone")
def test_kill_9_loses_only_what_was_in_flight(tmp_path: Path) -> None:
    """At several moments of a run, again and again in the same folder, until it comes to its end."""
    done = 0
    for more in (0, 1, 3, 2):  # to be finished before the next kill
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
    assert done < 12
    output, errors = start(tmp_path).communicate(timeout=PATIENCE)
    assert output == "done\n", errors
    report = run(squares(tmp_path / "marks", 12, 0.15), Store(tmp_path / "jobs"), workers=1)
    assert (report.reused, report.computed) == (12, 0)
    assert len(marks(tmp_path / "marks")) <= 12 + 4 * 2 * 2  # in each killed run at most two a worker were lost


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see whether processes are gone")
def test_ctrl_c_ends_at_once_and_keeps_what_is_done(tmp_path: Path) -> None:
    process = start(tmp_path)
    wait_until(lambda: list((tmp_path / "jobs").glob("*.json")))
    workers = children(process.pid)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert process.returncode != 0
    wait_until_gone(workers)
    assert len(list((tmp_path / "jobs").glob("*.json"))) >= 1
    assert not list((tmp_path / "jobs").glob("*.tmp"))


def test_progress_says_how_much_is_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    jobs = [*squares(tmp_path / "marks", 3), failing("raise")]
    run(jobs, Store(tmp_path / "jobs"), workers=1, display=Progress("squares"))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "squares: 4 jobs"
    assert lines[-1].startswith("squares: 4 of 4 jobs, 1 failed, about 0 s left")


def test_the_time_left_follows_the_costs() -> None:
    jobs = [Job(fail, {"how": str(cost)}, "none", "job", cost=cost) for cost in (1.0, 9.0)]
    display = Progress("p")
    with display.showing(jobs, workers=2):
        display.started -= 60  # a minute ago
        display.finished(jobs[0])
        assert display.left() == "about 9 min left"


def test_no_process_is_left_behind(tmp_path: Path) -> None:
    run(squares(tmp_path / "marks", 2), Store(tmp_path / "jobs"), workers=2)
    assert multiprocessing.active_children() == []


def test_a_second_run_in_the_folder_is_refused(tmp_path: Path) -> None:
    store = Store(tmp_path / "jobs")
    with store.locked(), pytest.raises(InputError, match="another run is working"), Store(tmp_path / "jobs").locked():
        pass
    with Store(tmp_path / "jobs").locked():  # the first is gone
        pass


def test_what_a_killed_run_left_half_written_is_swept_up(tmp_path: Path) -> None:
    folder = tmp_path / "jobs"
    folder.mkdir()
    (folder / ".abc.json.0123456789ab.tmp").write_text("{")
    (tmp_path / ".report.md.0123456789ab.tmp").write_text("#")
    (tmp_path / ".notes.tmp").write_text("a user's own")
    with Store(folder).locked():
        assert {path.name for path in folder.iterdir()} == {".lock"}
        assert {path.name for path in tmp_path.iterdir()} == {"jobs", ".notes.tmp"}


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "jobs").write_text("a file")
    with pytest.raises(InputError, match="jobs"), Store(tmp_path / "jobs").locked():
        pass
