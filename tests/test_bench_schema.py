"""`gradcon bench --json` writes the fields that docs/benchmarks.md names: all of them, no other, of these types."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

import pytest

from conftest import CHECKOUT
from gradcon import bench, cli
from gradcon.bench import comparisons, measure, solves
from gradcon.bench.schema import SCHEMA, Bench, RatiosByName, Sweep
from gradcon.bench.schema import Ratios as RatiosFigures
from gradcon.errors import InputError

PAGE = (CHECKOUT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `([^`]+)` \| ([a-z, ]+?) \|", re.MULTILINE)
PARTS = {"solve": ("A solve", Bench), "sweep": ("A sweep", Sweep), "ratios": ("Ratios", RatiosFigures)}
PYTHON = {"string": str, "integer": int, "number": float, "object": dict}


def section(title: str) -> str:
    return re.split(r"^##+ ", PAGE.split(f"### {title}\n")[1], maxsplit=1, flags=re.MULTILINE)[0]


def documented(kind: str) -> dict[str, str]:
    """Return the type of every field of a measurement, by its path, as the page tells it."""
    found: dict[str, str] = {}
    for title in ("Every measurement", PARTS[kind][0]):
        for path, told in ROW.findall(section(title)):
            for name in get_type_hints(RatiosByName) if "NAME" in path else [""]:
                found[path.replace("NAME", name)] = told
    return found


def typed(hint: Any, path: str = "", optional: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the same from a type; an object has a row of its own only if it may be null."""
    if get_origin(hint) is NotRequired:
        yield from typed(get_args(hint)[0], path, optional=True)
    elif is_typeddict(hint):
        for name, inner in get_type_hints(hint, include_extras=True).items():
            yield from typed(inner, f"{path}.{name}" if path else name, optional)
    elif get_origin(hint) is list:
        yield from typed(get_args(hint)[0], f"{path}[]", optional)
    elif get_origin(hint) in (UnionType, Union):
        (inner,) = set(get_args(hint)) - {NoneType}
        rows = dict(typed(inner, path, optional))
        yield path, f"{rows.pop(path, 'object')} or null"
        yield from rows.items()
    else:
        plain = str if get_origin(hint) is Literal else hint
        (name,) = (name for name, kind in PYTHON.items() if kind is plain)
        yield path, f"{name}{', optional' if optional else ''}"


def written(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and value of everything in a JSON document that is not an object with fields, or a list."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from written(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for inner in value:
            yield from written(inner, f"{path}[]")
    else:
        yield path, value


def check(found: dict[str, Any]) -> None:
    """Compare a document with the page."""
    assert found["schema"] == SCHEMA
    fields = documented(found["kind"])
    there = list(written(json.loads(json.dumps(found))))
    for path, value in there:
        assert path in fields, f"{path} is not documented"
        told = fields[path].removesuffix(", optional")
        kinds = {PYTHON[kind] for kind in told.removesuffix(" or null").split(" or ")}
        allowed = kinds | ({int} if float in kinds else set()) | ({NoneType} if told.endswith(" or null") else set())
        assert type(value) in allowed, f"{path} is {value!r}, but its type is {fields[path]}"
    null = {path for path, value in there if value is None}
    absent = set(fields) - {path for path, _ in there}
    for path in sorted(absent):
        inside_null = any(path.startswith(f"{parent}.") for parent in null)
        is_object = fields[path] == "object or null"  # it has fields, which have rows of their own
        assert inside_null or is_object or fields[path].endswith(", optional"), f"{path} is missing"


@pytest.mark.parametrize("kind", PARTS)
def test_the_page_names_the_fields_of_the_types(kind: str) -> None:
    assert documented(kind) == dict(typed(PARTS[kind][1]))


def test_the_page_names_the_schema_and_explains_every_ratio() -> None:
    assert f"`{SCHEMA}`" in PAGE
    told = PAGE.split("## The ratios\n")[1].split("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", told, re.MULTILINE) == list(get_type_hints(RatiosByName))


@pytest.mark.slow
@pytest.mark.parametrize("more", [[], ["--no-reference"]])
def test_a_solve_has_the_documented_fields(more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "--size", "32", "--views", "5", "--solves", "1", "--json", *more]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kind"] == "solve"
    assert (found["ratio"] is None) == bool(more)
    check(found)


def test_the_figures_of_a_gpu_are_documented() -> None:
    """They are not measured here: the types say what they are, and each of them is on the page."""
    fields = documented("solve")
    optional = {path for path, told in fields.items() if told.endswith(", optional")}
    assert {path.split(".")[0] for path in optional} == {"device", "run", "device_memory_mb"}
    assert {path.split(".")[2] for path in optional if path.startswith("device.stages")} == set(solves.STAGES)


@pytest.mark.slow
def test_a_sweep_has_the_documented_fields(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(measure, "SIZES", ((32, 4, 0),))
    monkeypatch.setattr(measure, "VIEWS", ((48, 2, 8),))
    assert cli.main(["bench", "--sweep", "--solves", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kind"] == "sweep"
    check(found)


@pytest.mark.slow
def test_ratios_have_the_documented_fields(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("cv2", reason="the extra `peers` is missing")
    assert cli.main(["bench", "--ratios", "--size", "48", "--solves", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kind"] == "ratios"
    check(found)
    for row in found["ratios"].values():
        assert 0 < row["low"] <= row["ratio"] <= row["high"]
        assert row["skipped"] is None
    assert found["ratios"]["reference_to_engine"]["ratio"] > 1
    text = bench.describe_ratios(found)
    assert "a solve: six scales to three" in text
    assert "left out" not in text


@pytest.mark.slow
def test_without_opencv_the_ratios_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    why = InputError("peers", "OpenCV and scikit-image are not installed", "install them")
    monkeypatch.setattr("gradcon.experiments.peer_methods.missing_libraries", lambda: why)
    found = bench.ratios(size=32, solves=1)
    check({**found})
    for name in ("gcm_to_dis", "sweep_to_dis"):
        assert found["ratios"][name]["ratio"] is None  # type: ignore[literal-required]
        assert found["ratios"][name]["skipped"] == str(why)  # type: ignore[literal-required]
    assert bench.describe_ratios(found).count("left out: peers: OpenCV") == 2


def test_a_ratio_is_the_median_of_the_rounds() -> None:
    """Not the ratio of the medians: the two times of a round belong together."""
    found = comparisons._ratio([2.0, 8.0, 6.0], [1.0, 2.0, 2.0])
    assert (found["ratio"], found["low"], found["high"]) == (3.0, 2.0, 4.0)
    assert (found["seconds"], found["compared_seconds"]) == (6.0, 2.0)


def test_ratios_and_a_sweep_are_measured_apart(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "--sweep", "--ratios"]) == 2
    assert "ratios: cannot be measured together with --sweep" in capsys.readouterr().err
