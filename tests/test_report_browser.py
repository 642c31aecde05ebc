"""The page in a real browser: what it shows, by mouse and by keyboard."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from browser import Browser, missing
from gradcon.io.pfm import read_pfm
from gradcon.report import write_report
from report_folders import SIZE, SOLVES, edit, read_weights
from waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing() or "there is a browser")]

PICTURE, POINTS = "#r0 canvas.map", ".cloud[data-key=r0] canvas"


def shown(browser: Browser, name: str, result: str = "r0") -> float:
    """Return a number of the read-out."""
    text = browser.text(f"#{result} .readout [data-name={name}] dd").replace("\u2212", "-")
    found = re.search(r"[-+]?[\d.]+", text)
    assert found, text
    return float(found[0])


def pixel(browser: Browser, result: str = "r0") -> tuple[int, int]:
    x, y = re.findall(r"\d+", browser.text(f"#{result} .readout [data-name=pixel] dd"))
    return int(x), int(y)


def test_readout_is_what_the_files_hold(browser: Browser, one: Path, folders: list[Path]) -> None:
    browser.open(one)
    maps = {name: read_pfm(folders[0] / f"{name}.pfm") for name in ("disparity", "uncertainty", "depth", "truth")}
    for place in ((0.2, 0.3), (0.71, 0.55), (0.99, 0.01)):
        browser.move(PICTURE, *place)
        x, y = pixel(browser)
        assert (x, y) == pytest.approx((place[0] * SIZE, place[1] * SIZE), abs=1.1)
        for name, values in maps.items():
            assert shown(browser, name) == pytest.approx(values[y, x], abs=2e-4, rel=1e-3), name
        assert shown(browser, "error") == pytest.approx(maps["disparity"][y, x] - maps["truth"][y, x], abs=2e-4)


def test_arrow_keys_move_the_pixel(browser: Browser, one: Path, folders: list[Path]) -> None:
    browser.open(one)
    browser.move(PICTURE, 0.5, 0.5)
    x, y = pixel(browser)
    browser.press(PICTURE, "right", "right", "down")
    assert pixel(browser) == (x + 2, y + 1)
    browser.press(PICTURE, "shift", "left")
    assert pixel(browser) == (x - 8, y + 1)
    assert shown(browser, "disparity") == pytest.approx(read_pfm(folders[0] / "disparity.pfm")[y + 1, x - 8], abs=2e-4)
    wait_until(lambda: f"pixel {x - 8}, {y + 1}" in browser.text("#spoken"))  # for screen readers


def test_a_click_holds_the_pixel_and_another_releases_it(browser: Browser, one: Path) -> None:
    browser.open(one)
    browser.move(PICTURE, 0.25, 0.25, click=True)
    held = pixel(browser)
    browser.move(PICTURE, 0.75, 0.75)
    assert pixel(browser) == held
    assert "held" in browser.text("#r0 .readout")
    browser.move(PICTURE, 0.75, 0.75, click=True)
    browser.move(PICTURE, 0.8, 0.75)
    assert pixel(browser) != held
    assert "held" not in browser.text("#r0 .readout")
    browser.find(PICTURE).send_keys("\ue007")  # Enter
    browser.settle()
    assert "held" in browser.text("#r0 .readout")


def test_the_first_solve_starts_from_zero(browser: Browser, one: Path) -> None:
    browser.open(one)
    browser.js("gradcon.set({ solve: 1 })")
    browser.settle()
    assert "disparity from 0 to 0, median 0" in browser.text("#r0 figcaption")
    assert shown(browser, "disparity") == 0
    browser.press("input[name=solve]", "]")
    assert "before solve 2" in browser.text("#r0 figcaption")


def test_camera_moves_with_the_mouse(browser: Browser, one: Path, folders: list[Path]) -> None:
    views = json.loads((folders[0] / "result.json").read_text())["views"]
    browser.open(one)
    browser.press(PICTURE, "1")
    seen = set()
    for place, side in (((0.02, 0.5), (1, 0)), ((0.98, 0.5), (-1, 0)), ((0.5, 0.02), (0, 1)), ((0.5, 0.98), (0, -1))):
        browser.move(PICTURE, *place)
        k = int(browser.find(PICTURE).get_attribute("data-view"))
        # A camera to the right has a baseline to the left.
        assert np.sign(views["baselines"][k]).tolist() == list(side)
        assert views["names"][k] in browser.text("#r0 figcaption")
        seen.add(browser.js("return arguments[0].toDataURL()", browser.find(PICTURE)))
    assert len(seen) == 4
    browser.move(PICTURE, 0.5, 0.5)
    assert browser.find(PICTURE).get_attribute("data-view") == "0"
    browser.press(PICTURE, "right")
    k = int(browser.find(PICTURE).get_attribute("data-view"))
    assert views["baselines"][k] == [-1, 0]


@pytest.mark.parametrize("planar", [True, False])
def test_ring_stays_on_its_point(browser: Browser, folders: list[Path], tmp_path: Path, planar: bool) -> None:
    folder = shutil.copytree(folders[0], tmp_path / "result")
    edit(folder, views__planar=planar)
    w = read_pfm(folder / "disparity.pfm")[30, 40]
    browser.open(write_report([folder], tmp_path / "page.html").path)
    browser.js("gradcon.set({ x: 40.5 / 96, y: 30.5 / 96, held: true, map: 'views', camera: [1, 0] })")
    browser.settle()
    ring = browser.find("#r0 .marker")
    assert ring.is_displayed() == planar
    k = int(browser.find(PICTURE).get_attribute("data-view"))
    baseline = json.loads((folder / "result.json").read_text())["views"]["baselines"][k]
    assert baseline == [-4, 0]
    if planar:
        left = float(browser.js("return arguments[0].style.left", ring).removesuffix("%")) / 100
        assert 96 * left - 0.5 == pytest.approx(40 - 4 * w, abs=0.1)


def test_error_and_badpix(browser: Browser, one: Path, folders: list[Path]) -> None:
    metrics = json.loads((folders[0] / "result.json").read_text())["metrics"]
    browser.open(one)
    browser.press(PICTURE, "3")
    assert f"RMSE {metrics['rmse']:.4f}" in browser.text("#r0 figcaption")
    browser.press(PICTURE, "4")
    pictures = set()
    for limit, name in (("0.07", "badpix_007"), ("0.03", "badpix_003"), ("0.01", "badpix_001")):
        browser.find(f"input[name=threshold][value='{limit}']").click()
        browser.settle()
        assert f"BadPix {metrics[name]:.2f} % (error above {limit})" in browser.text("#r0 figcaption")
        pictures.add(browser.js("return arguments[0].toDataURL()", browser.find(PICTURE)))
    assert len(pictures) == 3
    bad, known = browser.js(
        """const c = arguments[0], n = c.width, b = c.getContext("2d").getImageData(15, 15, n - 30, n - 30).data;
        let bad = 0; for (let i = 0; i < b.length; i += 4) bad += b[i] === 255; return [bad, b.length / 4]""",
        browser.find(PICTURE),
    )
    assert 100 * bad / known == pytest.approx(metrics["badpix_001"], abs=0.3)


def test_slider_goes_back_in_the_solves(browser: Browser, one: Path, folders: list[Path]) -> None:
    history = json.loads((folders[0] / "result.json").read_text())["history"]
    weights = read_weights(folders[0] / "weights.npz")
    browser.open(one)
    browser.move(PICTURE, 0.4, 0.6)
    x, y = pixel(browser)
    last = browser.js("return arguments[0].toDataURL()", browser.find(PICTURE))
    assert f"solve {SOLVES} of {SOLVES}" in browser.text("#convergence .now")
    browser.press("input[name=solve]", *["left"] * (SOLVES - 2))
    assert browser.text("#solve-number") == f"2 of {SOLVES}"
    assert f"RMSE {history[1]['rmse']:.4f}" in browser.text("#convergence .now")
    assert "before solve 2" in browser.text("#r0 figcaption")
    assert browser.js("return arguments[0].toDataURL()", browser.find(PICTURE)) != last
    low, high = weights["disparity_range"]
    step = int(weights["disparity_step"])
    before = low + (high - low) * weights["disparities"][1, y // step, x // step] / 255
    assert shown(browser, "disparity") == pytest.approx(before, abs=0.006)
    assert browser.text("#r0 .readout [data-name=uncertainty] dd").endswith(" (final)")
    browser.press(PICTURE, "3")
    found = re.search(r"RMSE about ([\d.]+), before solve 2", browser.text("#r0 figcaption"))
    assert found
    assert float(found[1]) == pytest.approx(history[0]["rmse"], rel=0.02)  # the RMSE after the solve before it
    browser.press(PICTURE, "]")
    assert browser.text("#solve-number") == f"3 of {SOLVES}"


def test_trust_is_what_the_weights_say(browser: Browser, one: Path, folders: list[Path]) -> None:
    weights = read_weights(folders[0] / "weights.npz")
    targets = json.loads((folders[0] / "result.json").read_text())["source"]["targets"]
    step, finest = int(weights["step"]), int(np.argmin(weights["scales"]))
    browser.open(one)
    sentences = set()
    for place, solve in (((0.3, 0.6), SOLVES), ((0.8, 0.2), 1)):
        browser.move(PICTURE, *place)
        browser.js("gradcon.set({ solve: arguments[0] })", solve)
        browser.settle()
        x, y = pixel(browser)
        k = int(np.flatnonzero(weights["solves"] <= solve)[-1])
        i, j = (
            min(round((v - step // 2) / step), n - 1) for v, n in zip((y, x), weights["codes"].shape[1:3], strict=True)
        )
        shares = (weights["codes"][k, i, j] / 255.0) ** 2
        shares /= shares.sum()
        sentence = browser.text(".trust[data-key=r0] .sentence")
        where = f"Trust at {step // 2 + step * j}, {step // 2 + step * i}, the nearest recorded pixel"
        assert sentence.startswith(f"{where}, before solve {weights['solves'][k]}: ")
        found = re.search(r": finest scale (\d+) %.* most trusted view is (.+), with (\d+) %; the far views", sentence)
        assert found
        finest_shown, best, best_shown = found.groups()
        assert int(finest_shown) == pytest.approx(100 * shares[finest].sum(), abs=1)
        assert int(best_shown) == pytest.approx(100 * shares.sum(axis=0).max(), abs=1)
        assert best == targets[int(shares.sum(axis=0).argmax())]
        sentences.add(sentence)
    assert len(sentences) == 2


def test_results_share_pointer_and_slider(browser: Browser, two: Path, folders: list[Path]) -> None:
    browser.open(two)
    browser.move("#r1 canvas.map", 0.3, 0.7)
    x, y = pixel(browser, "r1")
    assert pixel(browser, "r0") == (x, y)
    for key, folder in zip(("r0", "r1"), folders, strict=True):
        assert shown(browser, "disparity", key) == pytest.approx(read_pfm(folder / "disparity.pfm")[y, x], abs=2e-4)
    assert f"A: solve {SOLVES} of {SOLVES}" in browser.text("#convergence .now")
    assert "B: solve 5 of 5" in browser.text("#convergence .now")
    browser.js("gradcon.set({ solve: 3 })")
    browser.settle()
    assert "A: solve 3 of" in browser.text("#convergence .now")
    assert "B: solve 3 of" in browser.text("#convergence .now")
    assert "--keep-weights" in browser.text(".trust[data-key=r1]")  # how to record what B lacks
    dashes = browser.js(
        "return [...document.querySelectorAll('.chart .line')].map(l => l.getAttribute('stroke-dasharray'))"
    )
    assert len(set(dashes)) == 2


def test_points_turn(browser: Browser, one: Path) -> None:
    browser.open(one)
    points = browser.find(POINTS)
    seen = [points.screenshot_as_png]
    browser.move(POINTS, 0.5, 0.5, drag=(60, 20))
    seen.append(points.screenshot_as_png)
    for key in ("left", "+"):
        browser.press(POINTS, key)
        seen.append(points.screenshot_as_png)
    browser.find("button[data-turn=reset]").click()
    browser.settle()
    assert browser.js("return [gradcon.state.yaw, gradcon.state.pitch, gradcon.state.zoom]") == [0, 0, 1]
    assert len(set(seen)) == 4
