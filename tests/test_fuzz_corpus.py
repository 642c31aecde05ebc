"""Everything that ever broke something is replayed, and the hunt itself is tested."""

from __future__ import annotations

import faulthandler
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from fuzz import readers
from fuzz.batches import Batch
from fuzz.cases import make_case
from fuzz.in_tests import hunt_in_tests
from fuzz.judge import complaint
from fuzz.sample import Sample
from fuzz.samples.corpus import bombs, corpus
from gradcon.errors import InputError

SAMPLE = Sample({"a.txt": b"some 12 words\n"}, "scene", "a.txt")


def test_nothing_breaks_again(tmp_path: Path) -> None:
    hunt_in_tests(tmp_path, "--formats", "corpus", "--cases", str(len(corpus())))


def test_no_bomb_goes_off(tmp_path: Path) -> None:
    hunt_in_tests(tmp_path, "--formats", "bombs", "--cases", str(len(bombs())))


def test_a_case_is_the_same_every_time() -> None:
    made = [make_case("text", [SAMPLE], 0, number).changes for number in (5, 6, 5)]
    assert made[0] == made[2] != made[1]


def _crash(path: Path) -> None:
    faulthandler.disable()  # pytest's own report of the crash is not wanted
    os.kill(os.getpid(), signal.SIGSEGV)


def _loop(path: Path) -> None:
    while True:
        pass


def _raise(path: Path) -> None:
    raise KeyError(path.name)


def _print(path: Path) -> None:
    os.write(2, b"noise")


def _refuse(path: Path) -> None:
    raise InputError(path, "is empty", "fill it")


@pytest.mark.parametrize(
    ("read", "says"),
    [
        (_crash, f"dies of signal {int(signal.SIGSEGV)}"),
        (_loop, "takes more than 0.2 s"),
        (_raise, "KeyError"),
        (_print, "prints b'noise'"),
        (_refuse, None),
    ],
)
def test_each_kind_of_finding_is_noticed(tmp_path: Path, monkeypatch: Any, read: Any, says: str | None) -> None:
    monkeypatch.setattr(readers, "READERS", {"scene": read})
    monkeypatch.setattr("fuzz.judge.READERS", {"scene": read})
    monkeypatch.setattr("fuzz.batches.LONGEST", 0.2)
    batch = Batch("text", [SAMPLE], 0, range(2), tmp_path)
    while not batch.done:
        time.sleep(0.01)
        batch.poll()
    assert [number for number, _ in batch.found] == ([0, 1] if says else [])
    assert sum(batch.counts.values()) == 2
    assert all(says in what for _, what in batch.found if says)


def test_sentences_name_the_file_and_can_be_printed() -> None:
    path = Path("/scene")
    assert complaint("/scene/a.png: is empty.", path) == ""
    assert "control characters" in complaint("/scene: \x1b[31m.", path)
    assert "does not begin with the file" in complaint("views: is empty.", path)
