"""The page at earlier solves: every number belongs to the pixel it names, and the measures agree with `evaluate`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browser import Browser, missing
from gradcon.io.pfm import read_pfm, write_pfm
from gradcon.report import write_report
from gradcon.result.metrics import evaluate
from report_folders import SIZE, SOLVES, copy_to_change, edit, read_weights, save_weights

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing() or "there is a browser")]

EVERY = 3  # pixels between those whose earlier disparities are recorded
CAPTION = "#r0 figcaption"


def readout(browser: Browser, key: str = "r0") -> dict[str, str]:
    """Return all rows by their names."""
    rows = browser.js(
        "return [...document.querySelectorAll(arguments[0])].map(d => [d.dataset.name, d.lastChild.textContent])",
        f"#{key} .readout div",
    )
    return {name: value.replace("\u2212", "-").replace("\u00a0", " ") for name, value in rows}


def show(browser: Browser, **state: Any) -> None:
    browser.js("gradcon.set(arguments[0])", state)
    browser.settle()


def at(x: int, y: int) -> dict[str, float]:
    return {"x": (x + 0.5) / SIZE, "y": (y + 0.5) / SIZE}


@pytest.fixture
def result(folders: list[Path], tmp_path: Path) -> Path:
    return copy_to_change(folders[0], tmp_path / "result")


@pytest.fixture
def sampled(result: Path) -> Path:
    """A result that records earlier disparities of every third pixel only."""
    weights = read_weights(result / "weights.npz")
    kept = weights["disparities"][:, ::EVERY, ::EVERY]
    save_weights(result / "weights.npz", **(weights | {"disparities": kept, "disparity_step": np.int32(EVERY)}))
    return result


def recorded(folder: Path, solve: int) -> np.ndarray[Any, Any]:
    weights = read_weights(folder / "weights.npz")
    low, high = weights["disparity_range"]
    k = int(np.flatnonzero(weights["solves"] <= solve)[-1])
    return np.asarray(low + (high - low) / 255 * weights["disparities"][k])


def test_earlier_values_are_of_the_pixel_they_name(browser: Browser, sampled: Path, tmp_path: Path) -> None:
    before, truth = recorded(sampled, 4), read_pfm(sampled / "truth.pfm")
    browser.open(write_report([sampled], tmp_path / "page.html").path)
    for x, y in ((30, 33), (31, 34), (32, 35), (95, 95)):
        show(browser, solve=4, **at(x, y))
        rows = readout(browser)
        assert rows["pixel"] == f"{x}, {y}"
        across, down = map(int, rows["recorded at"].split(", "))
        assert max(abs(across - x), abs(down - y)) <= (1 if x < 95 else 2)
        assert float(rows["disparity"]) == pytest.approx(before[down // EVERY, across // EVERY], abs=6e-4)
        assert float(rows["truth"]) == pytest.approx(truth[down, across], abs=1e-4)
        error = before[down // EVERY, across // EVERY] - truth[down, across]
        assert float(rows["error"]) == pytest.approx(error, abs=6e-4)
    show(browser, solve=SOLVES)
    assert "recorded at" not in readout(browser)


def test_earlier_measures_are_over_recorded_pixels(browser: Browser, sampled: Path, tmp_path: Path) -> None:
    truth = read_pfm(sampled / "truth.pfm")
    error = np.abs(recorded(sampled, 4) - truth[::EVERY, ::EVERY])
    browser.open(write_report([sampled], tmp_path / "page.html").path)
    show(browser, solve=4, map="error")
    about = re.search(
        r"RMSE about ([\d.]+), before solve 4, recorded at one pixel in every 3 x 3", browser.text(CAPTION)
    )
    assert about
    assert float(about[1]) == pytest.approx(np.sqrt(np.mean(error**2)), rel=0.005)
    inner = error[5:27, 5:27]  # pixels 15 to 80 of 96
    for limit in (0.01, 0.03, 0.07):
        show(browser, map="badpix", threshold=limit)
        about = re.search(r"BadPix about ([\d.]+) %", browser.text(CAPTION))
        assert about
        assert float(about[1]) == pytest.approx(100 * np.mean(inner > limit), abs=0.06)


def test_error_picture_compares_with_the_truth_at_the_recorded_pixel(
    browser: Browser, sampled: Path, tmp_path: Path
) -> None:
    """Disparities that are right where they are recorded have no error anywhere, not even beside edges."""
    weights, truth = read_weights(sampled / "weights.npz"), read_pfm(sampled / "truth.pfm")
    right = np.rint(255 * (truth[::EVERY, ::EVERY] - truth.min()) / np.ptp(truth)).astype(np.uint8)
    changed = {"disparities": np.tile(right, (len(weights["solves"]), 1, 1)), "disparity_step": np.int32(EVERY)}
    changed["disparity_range"] = np.array([truth.min(), truth.max()], np.float64)
    save_weights(sampled / "weights.npz", **(weights | changed))
    browser.open(write_report([sampled], tmp_path / "page.html").path)
    show(browser, solve=2, map="badpix", threshold=0.01)
    reds = browser.js(
        """const { width, height } = document.querySelector("#r0 canvas.map");
        const b = document.querySelector("#r0 canvas.map").getContext("2d").getImageData(0, 0, width, height).data;
        return b.filter((_, i) => i % 4 === 0 && b[i] === 255).length"""
    )
    assert reds == 0


def test_digits_are_those_of_the_codes(browser: Browser, sampled: Path, tmp_path: Path) -> None:
    weights = read_weights(sampled / "weights.npz")
    for span, digits in ((2.5, 2), (0.25, 3), (250.0, 0)):
        save_weights(sampled / "weights.npz", **(weights | {"disparity_range": np.array([0.0, span])}))
        browser.open(write_report([sampled], tmp_path / "page.html").path)
        show(browser, solve=4, **at(30, 30))
        assert len(readout(browser)["disparity"].partition(".")[2]) == digits
    edit(sampled, calibration__product=2.0, calibration__offset=3.0, calibration__unit="m")  # depths of about 0.7 m
    write_pfm(sampled / "uncertainty.pfm", np.full((SIZE, SIZE), 1.23456e-5))
    browser.open(write_report([sampled], tmp_path / "page.html").path)
    show(browser, **at(30, 30))
    rows = readout(browser)
    assert rows["uncertainty"] == "± 0.00001235"
    assert len(rows["depth"].removesuffix(" m").partition(".")[2]) >= 5  # depths differ as little as the disparities


def test_a_depth_beyond_infinity_is_unknown(browser: Browser, result: Path, tmp_path: Path) -> None:
    edit(result, calibration__offset=-1e6)
    browser.open(write_report([result], tmp_path / "page.html").path)
    assert readout(browser)["depth"] == "unknown"


def test_final_maps_that_stand_in_for_earlier_ones_say_so(browser: Browser, two: Path) -> None:
    """The second result has no weights, so the page shows its final maps at earlier solves, and says so."""
    browser.open(two)
    silent = {name: browser.text(f"#r1 {name}") for name in ("figcaption", ".readout")}
    assert not any("not recorded" in text for text in silent.values())
    show(browser, solve=3)
    for name in ("disparity", "error", "badpix"):
        show(browser, map=name)
        assert "final, because earlier maps were not recorded" in browser.text("#r1 figcaption")
        assert "before solve 3" in browser.text(CAPTION)
    assert readout(browser, "r1")["shown"] == "final, because earlier maps were not recorded"
    show(browser, map="uncertainty")
    assert browser.text(CAPTION).endswith(", final")
    show(browser, solve=5)  # the last one of this result
    assert "shown" not in readout(browser, "r1")


def test_unknown_disparities_are_bad(browser: Browser, result: Path, tmp_path: Path) -> None:
    disparity, truth = read_pfm(result / "disparity.pfm"), read_pfm(result / "truth.pfm")
    disparity[30:40, 30:40] = np.nan
    write_pfm(result / "disparity.pfm", disparity)
    browser.open(write_report([result], tmp_path / "page.html").path)
    assert "infinite" in browser.text("#facts")
    show(browser, map="error")
    assert "RMSE infinite" in browser.text(CAPTION)
    show(browser, map="badpix", threshold=0.07)
    assert f"BadPix {evaluate(disparity, truth)['badpix_007']:.2f} %" in browser.text(CAPTION)
    painted = "return [...document.querySelector('#r0 canvas.map').getContext('2d').getImageData(35, 35, 1, 1).data]"
    assert browser.js(painted) == [255, 200, 79, 255]


def test_truth_in_the_border_alone(browser: Browser, sampled: Path, tmp_path: Path) -> None:
    truth = read_pfm(sampled / "truth.pfm")
    truth[5:, :] = np.nan
    write_pfm(sampled / "truth.pfm", truth)
    known = np.abs(recorded(sampled, 4) - truth[::EVERY, ::EVERY])[:2]
    browser.open(write_report([sampled], tmp_path / "page.html").path)
    show(browser, map="badpix", threshold=0.03)
    exact = evaluate(read_pfm(sampled / "disparity.pfm"), truth)["badpix_003"]
    assert f"BadPix {exact:.2f} %" in browser.text(CAPTION)
    show(browser, solve=4)
    about = re.search(r"BadPix about ([\d.]+) %", browser.text(CAPTION))
    assert about
    assert float(about[1]) == pytest.approx(100 * np.mean(known > 0.03), abs=0.06)
    truth[::EVERY, ::EVERY] = np.nan  # now no recorded pixel has a truth
    write_pfm(sampled / "truth.pfm", truth)
    browser.open(write_report([sampled], tmp_path / "page.html").path)
    show(browser, solve=4, map="error")
    assert "RMSE unknown" in browser.text(CAPTION)
