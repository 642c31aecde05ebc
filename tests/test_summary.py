"""The summary of a result: a dictionary for programs, and a table for people."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from pathlib import Path

import pytest

from gradcon import Result, Scene, estimate, synth
from gradcon.cli.messages import describe
from gradcon.result.facts import table

LOOK = ["range", "images", "cameras"]  # what was found before the run


@pytest.fixture(scope="module")
def result() -> Result:
    return estimate(synth.render("planes", (40, 40), grid=3), engine="cpu")


def rows(text: str) -> dict[str, str]:
    """Read a table again: the text of each name, with wrapped lines joined."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        name = line[:12].strip()
        last = name or last  # noqa: F821
        found[last] = f"{found[last]} {line[12:]}" if not name else line[12:]
    return found


def test_the_summary_is_still_a_dictionary(result: Result) -> None:
    summary = result.summary()
    assert isinstance(summary, dict)
    assert summary["metrics"] == result.metrics
    assert summary == dict(summary.items())
    assert json.loads(json.dumps(summary))["engine"] == result.engine
    for same in (copy.copy(summary), copy.deepcopy(summary), pickle.loads(pickle.dumps(summary))):
        assert same == summary
        assert str(same) == str(summary)


def test_the_summary_prints_the_facts(result: Result) -> None:
    summary = result.summary()
    assert repr(summary) == str(summary) == f"{summary}"
    found = rows(str(summary))
    assert list(found) == ["scene", "disparity", "depth", "uncertainty", "accuracy", *LOOK, "engine", "stopped"]
    assert found["scene"].startswith("planes: 5 views of 40 x 40")
    assert found["accuracy"].startswith(f"RMSE {result.metrics['rmse']:.4f}, ")
    assert found["engine"].startswith(f"{result.engine}, {result.effort} in ")
    assert found["stopped"] == str(result.stopped)
    assert max(map(len, str(summary).splitlines())) <= 100


def test_the_command_prints_the_same_rows(result: Result, tmp_path: Path) -> None:
    printed = rows(describe(result, tmp_path))
    assert printed.pop("written").startswith(str(tmp_path))
    assert printed == rows(str(result.summary()))


def test_rows_that_a_result_lacks_are_left_out(result: Result) -> None:
    scene = Scene(result.scene.reference, list(result.scene.targets), result.scene.baselines)
    bare = dataclasses.replace(result, metrics=None, scene=scene)
    assert not {"accuracy", "depth"} & rows(str(bare.summary())).keys()


def test_the_summary_prints_all_warnings_in_full(result: Result) -> None:
    warnings = ["The cameras seem to be reversed. " * 9, "Second."]
    text = str(dataclasses.replace(result, warnings=warnings).summary())
    assert " ".join(line[12:] for line in text.splitlines()[-5:]) == f"{warnings[0]}Second."
    assert [line[:12].strip() for line in text.splitlines()].count("warning") == 2
    assert max(map(len, text.splitlines())) <= 100


def test_long_texts_are_wrapped_below_their_beginning() -> None:
    assert table([("a", "one two"), ("b", "three")], 16).splitlines() == [
        "a           one",
        "            two",
        "b           thre",
        "            e",
    ]
    assert table([("a", "one two"), ("b", "three")]).splitlines() == ["a           one two", "b           three"]
