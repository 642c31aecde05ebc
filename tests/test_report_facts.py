"""The page of several results: names, differences, which result a warning belongs to, and what is left out."""

from __future__ import annotations

import json
import re
import shutil
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from gradcon import cli
from gradcon.errors import InputError
from gradcon.report import write_report
from gradcon.report.facts import labels
from gradcon.scene.calibration import Calibration
from report_folders import edit


def copies(folder: Path, *places: Path) -> list[Path]:
    return [Path(shutil.copytree(folder, place)) for place in places]


def page_of(results: list[Path], tmp_path: Path) -> str:
    return write_report(results, tmp_path / "page.html").path.read_text(encoding="utf-8")


def table(page: str) -> list[dict[str, str]]:
    """Return the rows of the key facts, by their headings."""
    shown = page[page.index('<table id="facts">') : page.index("</table>")]
    headings, *rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", shown)]
    plain = [[unescape(re.sub(r"<[^>]*>", "", cell)) for cell in row] for row in rows]
    return [dict(zip(headings, row, strict=True)) for row in plain]


def notes(page: str) -> list[str]:
    items = re.findall(r"<li>(.*?)</li>", page[page.index("<header>") : page.index("</header>")])
    return [unescape(re.sub(r"<[^>]*>", "", item)) for item in items]


@pytest.mark.parametrize(
    ("folders", "expected"),
    [
        (["a/out", "b/out"], ["a/out", "b/out"]),
        (["x/a/out", "x/b/out", "x/c/other"], ["a/out", "b/out", "other"]),
        (["a/s/out", "b/s/out"], ["a/s/out", "b/s/out"]),
        (["out", "./x/../out"], ["out", "out"]),  # the same folder twice
        (["../x/out", "a"], ["out", "a"]),
    ],
)
def test_labels_tell_results_apart(folders: list[str], expected: list[str]) -> None:
    assert labels([Path(folder) for folder in folders]) == [str(Path(label)) for label in expected]


def test_results_of_one_name_are_told_apart(folders: list[Path], tmp_path: Path) -> None:
    results = copies(folders[1], tmp_path / "a" / "out", tmp_path / "b" / "out")
    page = page_of(results, tmp_path)
    assert [row["result"] for row in table(page)] == ["A a/out", "B b/out"]
    data = json.loads(re.search(r'id="data">(.*?)</script>', page)[1])  # type: ignore[index]
    assert [result["label"] for result in data["results"]] == ["a/out", "b/out"]


def test_parameters_that_differ_have_columns(folders: list[Path], tmp_path: Path) -> None:
    first, second = copies(folders[0], tmp_path / "a", tmp_path / "b")
    alike = table(page_of([first, second], tmp_path))
    assert not {"epsilon", "scales", "reference", "initial", "engine"} & set(alike[0])
    edit(second, parameters__epsilon=0.01, parameters__initial="start.pfm", parameters__solves=77, engine="reference")
    edit(second, source__reference="another.png")
    shown = table(page_of([first, second], tmp_path))
    here = json.loads((first / "result.json").read_text())
    assert [row["epsilon"] for row in shown] == [f"{here['parameters']['epsilon']:g}", "0.01"]
    assert [row["initial"] for row in shown] == ["0", "start.pfm"]
    assert [row["solves allowed"] for row in shown] == [f"{here['parameters']['solves']}", "77"]
    assert [row["engine"] for row in shown] == [here["engine"], "reference"]
    assert [row["reference"] for row in shown] == [here["source"]["reference"], "another.png"]
    assert "scales" not in shown[0]


def test_warnings_say_which_result_they_belong_to(folders: list[Path], tmp_path: Path) -> None:
    first, second = copies(folders[1], tmp_path / "a", tmp_path / "b")
    edit(second, warnings=["Too few views."])
    assert notes(page_of([first, second], tmp_path)) == ["B Too few views."]
    assert notes(page_of([second], tmp_path)) == ["Too few views."]


def test_what_is_left_out_is_named_in_the_page(folders: list[Path], tmp_path: Path) -> None:
    (broken,) = copies(folders[1], tmp_path / "<i>broken")
    (broken / "disparity.pfm").unlink()
    (said,) = notes(page_of([broken, folders[0]], tmp_path))
    assert said.startswith(f"Left out: {broken}")
    assert "disparity.pfm" in said


def test_a_broken_uncertainty_costs_the_uncertainty_alone(
    folders: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (result,) = copies(folders[0], tmp_path / "a")
    (result / "uncertainty.pfm").write_bytes(b"Pf\n3 3\n-1\n")
    assert cli.main(["report", str(result), "--out", str(tmp_path / "page.html")]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"gradcon: {result / 'uncertainty.pfm'}: ")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert 'id="r0-disparity"' in page
    assert 'id="r0-uncertainty"' not in page
    assert notes(page)[0].endswith(". The page leaves it out.")


HUGE = 10**400


@pytest.mark.parametrize(
    "fields", [{"product": HUGE}, {"offset": -HUGE}, {"K": [[HUGE, 0, 0], [0, 1, 0], [0, 0, 1]]}, {"K": [[1, 2], [3]]}]
)
def test_absurd_calibrations_are_refused(folders: list[Path], tmp_path: Path, fields: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="calibration"):
        Calibration(**({"product": 1.0, "K": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]} | fields))
    (result,) = copies(folders[1], tmp_path / "a")
    edit(result, **{f"calibration__{name}": value for name, value in fields.items()})
    report = write_report([result, folders[0]], tmp_path / "page.html")
    assert report.shown == [folders[0]]
    assert report.left_out[0].startswith(f"{result / 'result.json'}: its field 'calibration'")
