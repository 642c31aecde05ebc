"""The job runner: each job is done once, kept, and found again."""

from __future__ import annotations

import errno
import multiprocessing
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from gradcon import __version__
from gradcon.errors import InputError
from gradcon.jobs import Job, Store, run
from gradcon.jobs.processes import cores
from gradcon.jobs.tally import Tally
from gradcon.jobs.workers import Gradcon, OtherGradconError
from job_kinds import (
    Inline,
    fail,
    failing,
    finished,
    marks,
    square,
    squares,
    touch,
    wait_for,
    wait_until_gone,
    write_text,
)

pytestmark = pytest.mark.slow


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


def test_the_key_covers_what_the_outcome_depends_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job(square, {"x": 1}, "abc", "one", where={"folder": "here"})
    assert Job(square, {"x": 1}, "abc", "uno", where={"folder": "there"}, cost=9).key == job.key
    assert Job(square, {"x": 2}, "abc", "one").key != job.key
    assert Job(square, {"x": 1}, "abd", "one").key != job.key
    assert Job(fail, {"x": 1}, "abc", "one").key != job.key
    monkeypatch.setattr("gradcon.jobs.job.sources", lambda: "other sources")
    assert Job(square, {"x": 1}, "abc", "one").key != job.key


def test_jobs_are_made_while_others_are_done(tmp_path: Path) -> None:
    """Not all jobs are made before the first is handed out, because each may have much to hash."""
    ahead: list[int] = []

    def made() -> Iterator[Job]:
        for number, job in enumerate(squares(tmp_path / "marks", 12)):
            ahead.append(number - len(finished(tmp_path)))
            yield job

    done = run(made(), Store(tmp_path / "jobs"), workers=1, total=12)
    assert done.computed == 12
    assert max(ahead) <= 4


def test_the_last_job_goes_to_an_idle_worker(tmp_path: Path) -> None:
    """It must not wait behind the first, which is busy until the last is done."""
    mark = str(tmp_path / "mark")
    first, last = (Job(kind, {"mark": mark}, "none", "job") for kind in (wait_for, touch))
    done = run([first, *squares(tmp_path / "marks", 1), last], Store(tmp_path / "jobs"), workers=2)
    assert done.computed == 3


def test_an_outcome_of_data_that_have_changed_is_not_kept(tmp_path: Path) -> None:
    sound, changed = squares(tmp_path / "marks", 2)
    changed = replace(changed, changed=partial(str, "it was changed."))
    done = run([sound, changed], Store(tmp_path / "jobs"), pool=Inline())
    assert done.failures == {changed.key: "it was changed."}
    assert list(done.outcomes) == [sound.key]
    assert Store(tmp_path / "jobs").load(changed) is None


def test_files_go_where_people_look_for_them(tmp_path: Path) -> None:
    job = Job(write_text, {"text": "abc"}, "none", "text")
    done = run([job], Store(tmp_path / "jobs", root=tmp_path), pool=Inline())
    assert (tmp_path / "one" / "a.txt").read_bytes() == b"abc"
    outcome = done[job]
    assert outcome is not None
    assert outcome.files == {}  # or a long run would hold all results in memory
    assert Store(tmp_path / "jobs", root=tmp_path).load(job) is not None
    (tmp_path / "two" / "b.txt").write_bytes(b"ab?")
    store = Store(tmp_path / "jobs", root=tmp_path)
    assert store.load(job) is None
    assert store.damaged == [f"{tmp_path / 'two' / 'b.txt'}: no longer holds what was written into it."]


def test_a_worker_of_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = Gradcon("0.0.1", "other sources")
    monkeypatch.setattr(Gradcon, "here", classmethod(lambda _: here))
    with pytest.raises(OtherGradconError) as refused:
        run(squares(tmp_path / "marks"), Store(tmp_path / "jobs"), workers=2)
    assert refused.value.problem == f"runs gradcon {__version__}, not 0.0.1"
    assert marks(tmp_path / "marks") == []
    wait_until_gone([child.pid for child in multiprocessing.active_children() if child.pid])


@pytest.mark.parametrize("damage", ["cut", "empty", "edited", "swapped", "no arrays", "other arrays"])
def test_a_damaged_outcome_is_named_and_computed_again(tmp_path: Path, damage: str) -> None:
    jobs = squares(tmp_path / "marks", 4)
    run(jobs, Store(tmp_path / "jobs"), pool=Inline())
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
    done = run(jobs, store, pool=Inline())
    assert (done.computed, done.reused) == (1, 3)
    assert len(store.damaged) == 1
    assert jobs[3].key in store.damaged[0]
    outcome = done[jobs[3]]
    assert outcome is not None
    assert outcome.record["square"] == 9
    assert Store(tmp_path / "jobs").load(jobs[3]) is not None


def test_workers_share_the_cores(tmp_path: Path) -> None:
    for workers, alone in ((1, False), (cores(), False), (cores(), True)):
        jobs = [
            Job(square, {"x": x}, f"{workers} {alone}", "job", where={"folder": str(tmp_path)}, alone=alone)
            for x in range(4)
        ]
        done = run(jobs, Store(tmp_path / "jobs"), workers=workers)
        threads = {outcome.record["threads"] for outcome in done.outcomes.values()}
        assert threads == {str(1 if workers > 1 and not alone else cores())}


def test_progress_says_how_much_is_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    jobs = [*squares(tmp_path / "marks", 3), failing("raise")]
    run(jobs, Store(tmp_path / "jobs"), workers=1, tally=Tally("squares"))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "squares: 4 jobs"
    assert lines[-1].startswith("squares: 4 of 4 jobs, 1 failed, about 0 s left")


def test_the_time_left_follows_the_costs() -> None:
    jobs = [Job(fail, {"how": str(cost)}, "none", "job", cost=cost) for cost in (1.0, 9.0)]
    tally = Tally()
    with tally.counting(jobs, workers=2):
        tally.begun()
        assert tally.started is not None
        tally.started -= 60  # a minute ago
        tally.finished(jobs[0])
        assert tally.describe("a label") == "about 9 min left, a label"


def test_a_second_run_in_the_folder_is_refused(tmp_path: Path) -> None:
    store = Store(tmp_path / "jobs")
    with store.locked(), pytest.raises(InputError, match="in use by another run"), Store(tmp_path / "jobs").locked():
        pass
    with Store(tmp_path / "jobs").locked():  # the first run is over
        pass


def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(file: object, how: int) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr("fcntl.flock", flock)
    with Store(tmp_path / "jobs").locked():  # not taken for another run
        pass


def test_half_written_files_of_a_killed_run_are_removed(tmp_path: Path) -> None:
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
