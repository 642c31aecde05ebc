"""The page on the paper's evaluation is what its script makes of the results beside it."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from PIL import Image

from conftest import CHECKOUT
from gradcon.experiments import PAPER
from gradcon.experiments.statements import STATEMENTS
from gradcon.identity import sources

DOCS = CHECKOUT / "docs"
MOST_BYTES = 500_000  # of the results that the page shows


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reproduction_page", DOCS / "reproduction.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_script_makes_of_the_results(script: ModuleType) -> None:
    results = json.loads(script.RESULTS.read_text(encoding="utf-8"))
    page = (DOCS / "reproduction.md").read_text(encoding="utf-8")
    assert page == script.page(results), "make it again: python docs/reproduction.py"
    assert script.RESULTS.stat().st_size < MOST_BYTES
    for picture in re.findall(r"\]\((images/.*?)\)", page):
        assert (DOCS / picture).is_file()


def test_every_experiment_of_the_paper_has_a_section(script: ModuleType) -> None:
    template = script.TEMPLATE.read_text(encoding="utf-8")
    assert sorted(re.findall(r'section\("(.*?)"\)', template)) == sorted(PAPER)


def made_up(folder: Path, name: str, rmse: float, commit: str | None) -> Path:
    """Write the results of an experiment with a table, a further table and a picture."""
    columns = [
        {"path": "label", "heading": "method", "form": "s"},
        {"path": "by_change|a|b", "heading": "RMSE", "form": ".3f"},
    ]
    rows = {"gcm": {"label": "GCM", "by_change": {"a": {"b": rmse}, "c": 2}, "scenes": {"pens": 0.1}}}
    claim = {"statement": "epsilon", "supported": True, "measured": f"It is {rmse}.", "as_printed": ""}
    described: dict[str, Any] = {
        "title": "A title",
        "paper": "a table",
        "columns": columns,
        "more_tables": [{"name": f"{name}-scenes", "title": "By scene", "columns": columns}],
        "claims": [{**claim, "text": STATEMENTS["epsilon"].text, "where": "a part"}],
        "pictures": [{"name": name, "caption": "A picture."}],
        "notes": ["A note."],
        "made": {
            "commit": commit,
            "version": "0.0",
            "date": "2024-02-03",
            "engine": "cuda",
            "quick": False,
            "solves": 300,
            "alphas": [0.5, 1.0],
            "scenes": {"hci": ["pens"]},
        },
        "left_out": {},
    }
    folder.mkdir()
    results = {
        "settings": {"sources": sources()},
        "experiments": {name: described},
        "tables": {name: rows, f"{name}-scenes": rows},
        "runs": {"key": "long"},
    }
    (folder / "results.json").write_text(json.dumps(results))
    Image.new("RGB", (9, 9), "red").save(folder / f"{name}.png")
    return folder


def test_results_made_elsewhere_are_put_in_place(script: ModuleType, tmp_path: Path) -> None:
    results: dict[str, Any] = {"experiments": {}, "tables": {}}
    script.take_over(made_up(tmp_path / "one", "epsilon", 0.123456789, "abc123"), results)
    pictures = script.take_over(made_up(tmp_path / "two", "single-scale", 0.5, None), results)
    assert list(results["experiments"]) == ["single-scale", "epsilon"]  # in the order of the report
    assert list(results["tables"]) == ["single-scale", "single-scale-scenes", "epsilon", "epsilon-scenes"]
    assert results["tables"]["epsilon"]["gcm"] == {"label": "GCM", "by_change": {"a": {"b": 0.123457}}}
    assert results["experiments"]["single-scale"]["made"]["commit"] == script.commit()  # the code is the same
    assert list(pictures) == ["single-scale"]
    page = script.page(results)
    assert "| GCM | 0.123 |" in page
    made = "Made on 2024-02-03 by commit abc123 with the engine cuda, with 300 solves for each run."
    alphas = "Cross-validation chooses alpha from 0.5, 1."
    assert f"{made} {alphas} 4D Light Field Benchmark, 1 of 24 scenes: pens." in page
    assert "| a part | The GCM is substantially insensitive to epsilon. | supported |  | It is 0.123456789. |" in page
    assert "![A picture.](images/reproduction-epsilon.png)" in page
    assert page.count("These results are still to be made.") == len(PAPER) - 2
    script.take_over(made_up(tmp_path / "again", "epsilon", 0.5, "def456"), results)
    assert "commit abc123" not in script.page(results)
