"""The page of a sweep: passes instead of solves, and the trust in each side instead of each scale."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from browser import Browser, missing
from gradcon import Options, estimate, synth
from gradcon.report import write_report
from gradcon.report.folder import read_folder
from report_folders import SIZE, copy_to_change, edit, read_weights, save_weights

in_browser = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing() or "there is a browser")]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result with weights; no test may change it."""
    scene = synth.render("occlusion", size=(SIZE, SIZE))
    result = estimate(scene, Options(method="sweep"), engine="cpu", keep_weights=True)
    return result.save(tmp_path_factory.mktemp("swept") / "sweep")


@pytest.fixture
def copy(swept: Path, tmp_path: Path) -> Path:
    return copy_to_change(swept, tmp_path / "copy")


def words(browser: Browser) -> str:
    """Return all text of the page, also that for screen readers."""
    script = """return [document.body.innerText,
        ...[...document.querySelectorAll("[aria-label]")].map((e) => e.getAttribute("aria-label")),
        ...[...document.querySelectorAll("[aria-valuetext]")].map((e) => e.getAttribute("aria-valuetext")),
        ...[...document.querySelectorAll("title, li")].map((e) => e.textContent)].join("\\n")"""
    return str(browser.js(script)).replace("\u00a0", " ")


class TestInTheBrowser:
    pytestmark = in_browser

    def test_a_sweep_has_passes(self, browser: Browser, swept: Path, tmp_path: Path) -> None:
        browser.open(write_report([swept], tmp_path / "page.html").path)
        browser.js("gradcon.set({ solve: 2 })")
        browser.settle()
        text = words(browser)
        assert "solve" not in text.lower()
        assert "scales" not in text
        for part in ("Pass", "pass 2 of 3", "after pass 2", "RMSE after each pass", "recorded passes 1 to 3"):
            assert part in text
        assert browser.complaints() == []

    def test_each_side_has_its_share(self, browser: Browser, copy: Path, tmp_path: Path) -> None:
        weights = read_weights(copy / "weights.npz")
        baselines = np.array(read_folder(copy).baselines)
        codes = np.zeros_like(weights["codes"])
        codes[..., (baselines[:, 0] < 0) & (baselines[:, 1] == 0)] = 127  # four cameras to the right, a quarter each
        save_weights(copy / "weights.npz", **(weights | {"codes": codes}))
        browser.open(write_report([copy], tmp_path / "page.html").path)
        label = browser.find(".trust .stack svg").get_attribute("aria-label").replace("\u00a0", " ")
        assert "after pass 3: right 100 %, below 0 %, left 0 %, above 0 %" in label
        assert "The 4 views in use are trusted equally, 25 % each" in browser.text(".trust .sentence")

    def test_a_pixel_that_no_other_view_sees(self, browser: Browser, copy: Path, tmp_path: Path) -> None:
        weights = read_weights(copy / "weights.npz")
        save_weights(copy / "weights.npz", **(weights | {"codes": np.zeros_like(weights["codes"])}))
        browser.open(write_report([copy], tmp_path / "page.html").path)
        assert "No other view sees this pixel." in browser.text(".trust .sentence")

    def test_beside_a_run_of_solves(self, browser: Browser, swept: Path, folders: list[Path], tmp_path: Path) -> None:
        browser.open(write_report([swept, folders[0]], tmp_path / "page.html").path)
        browser.js("gradcon.set({ solve: 2 })")
        browser.settle()
        assert "Solve or pass" in browser.text("#solves")
        assert "after pass 2" in browser.text("#r0 figcaption")
        assert "before solve 2" in browser.text("#r1 figcaption")
        said = browser.text("#convergence .now")
        assert "A: pass 2 of 3" in said
        assert "B: solve 2 of 9" in said
        assert browser.text("#trust-title") == "Trusted scales and views"
        dots = browser.js("return document.querySelectorAll('#convergence .dot.line-0').length")
        assert dots == 5  # three errors, and two steps: nothing comes before the first pass


def test_the_facts_of_a_sweep(swept: Path, folders: list[Path], tmp_path: Path) -> None:
    page = write_report([swept], tmp_path / "page.html").path.read_text()
    assert '<th scope="col">passes</th>' in page
    both = write_report([swept, folders[0]], tmp_path / "page.html").path.read_text()
    assert '<th scope="col">solves or passes</th>' in both


@pytest.mark.parametrize("kind", [None, 7, "<b>", "a long word" * 9, ["pass"]])
def test_a_row_of_an_unknown_kind_is_a_solve(copy: Path, kind: object) -> None:
    edit(copy, history=[{"solve": 1, "kind": kind}])
    assert read_folder(copy).kind == "solve"


@pytest.mark.parametrize("after", [np.array([True]), np.array(1.0), np.array("yes")])
def test_a_wrong_moment_is_refused(copy: Path, after: np.ndarray) -> None:
    save_weights(copy / "weights.npz", **(read_weights(copy / "weights.npz") | {"after": after}))
    found = read_folder(copy)
    assert found.weights is None
    assert "after" in found.notes[0]


def test_weights_of_older_versions_are_those_before_a_solve(copy: Path) -> None:
    weights = read_weights(copy / "weights.npz")
    assert weights.pop("after")
    save_weights(copy / "weights.npz", **weights)
    found = read_folder(copy)
    assert found.weights is not None
    assert not found.weights.after
