"""The page for every reader and file: phones, dark mode, keyboards, hostile names; its size and its speed."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browser import KEYS, Browser, missing
from gradcon.report import write_report
from report_folders import SIZE, bare_result, edit, large_result
from waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing() or "there is a browser")]

PICTURE, POINTS = "#r0 canvas.map", ".cloud[data-key=r0] canvas"


def test_many_results(browser: Browser, folders: list[Path], tmp_path: Path) -> None:
    copies = [shutil.copytree(folders[1], tmp_path / f"copy{k}") for k in range(14)]
    browser.open(write_report(copies, tmp_path / "page.html").path)
    abouts = browser.js("return [...document.querySelectorAll('.cloud .about')].map(about => about.textContent)")
    assert len(abouts) == 14
    assert all(" points, " in text for text in abouts[:12])
    assert all("first 12 results" in text for text in abouts[12:])


def test_phone(browser: Browser, two: Path) -> None:
    browser.open(two, width=360, height=740)
    for name in ("views", "disparity", "error", "badpix", "uncertainty"):
        browser.js("gradcon.set({ map: arguments[0] })", name)
        browser.settle()
        assert browser.js("return document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0, (
            name
        )
    first, second = (browser.find(f"#{key}").rect for key in ("r0", "r1"))
    assert second["y"] >= first["y"] + first["height"]


def test_dark(browser: Browser, one: Path) -> None:
    def luminance(name: str) -> float:
        colour = browser.js("return getComputedStyle(document.body)[arguments[0]]", name)
        parts = np.array([float(part) for part in re.findall(r"[\d.]+", colour)[:3]]) / 255
        return float(
            np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ (0.2126, 0.7152, 0.0722)
        )

    for dark in (False, True):
        browser.open(one, dark=dark)
        text, ground = luminance("color"), luminance("backgroundColor")
        assert (text > ground) == dark
        assert (max(text, ground) + 0.05) / (min(text, ground) + 0.05) > 7


def test_keyboard_reaches_every_control(browser: Browser, two: Path) -> None:
    browser.open(two)
    browser.js("window.scrollTo(0, 0); document.activeElement.blur()")
    reached = set()
    for _ in range(40):
        browser.driver.switch_to.active_element.send_keys(KEYS["tab"])
        reached.add(
            browser.js(
                """const e = document.activeElement;
                return `${e.localName} ${e.name || e.dataset.turn || e.className}`.trim()"""
            )
        )
    wanted = {"input map", "input solve", "canvas map keys", "canvas points keys", "summary"}
    wanted |= {"input right", "input down", "input aperture", "button new", "canvas keys"}
    wanted |= {f"button {way}" for way in ("left", "right", "up", "down", "nearer", "farther", "reset")}
    assert wanted <= reached
    unnamed = browser.js(
        """return [...document.querySelectorAll("canvas, input, button, svg[role=img]")].filter((e) =>
        !e.ariaHidden && !e.ariaLabel && !e.textContent.trim() && !e.closest("label")).map((e) => e.outerHTML)"""
    )
    assert unnamed == []


def test_hostile_names_are_text(browser: Browser, folders: list[Path], tmp_path: Path) -> None:
    bad = "<img src=x onerror=alert(1)></script><script>document.title='owned'</script> \"'\u202e\u2028&lt;"
    folder = tmp_path / "<b>bold<b>"
    shutil.copytree(folders[0], folder)
    source = json.loads((folder / "result.json").read_text())["source"]
    views = json.loads((folder / "result.json").read_text())["views"]
    edit(
        folder,
        source__name=bad,
        source__targets=[bad + str(k) for k, _ in enumerate(source["targets"])],
        source__reference=bad,
        views__names=[bad for _ in views["names"]],
        stopped=bad,
        warnings=[bad],
        parameters__method=bad,
    )
    browser.open(write_report([folder], tmp_path / "page.html").path)
    browser.press(PICTURE, "1")
    assert browser.text("h1") == bad
    assert "owned" not in browser.driver.title.replace(bad, "")
    assert bad in browser.text("#r0 figcaption")
    assert bad in browser.text(".trust .sentence")
    assert bad in browser.text("#convergence .now")
    assert "<b>bold<b>" in browser.text("#facts")
    assert browser.js("return document.querySelectorAll('img, b b').length") == 0


def test_without_webgl_the_rest_works(browser: Browser, one: Path) -> None:
    off = """HTMLCanvasElement.prototype.getContext = new Proxy(HTMLCanvasElement.prototype.getContext,
        { apply: (f, canvas, a) => a[0] === "webgl" ? null : f.apply(canvas, a) })"""
    added = browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": off})
    try:
        browser.open(one)
        assert "no WebGL" in browser.text(".cloud .about")
        before = browser.text("#r0 .readout")
        browser.move(PICTURE, 0.2, 0.5)
        assert browser.text("#r0 .readout") != before
    finally:
        browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


TRIES = 8  # of each timing, because other work on the machine can only slow it down


def opened(browser: Browser, page: Path) -> int:
    """Open the page; return the milliseconds until it is ready."""
    browser.open(page)
    return int(browser.js("return document.documentElement.dataset.ready"))


def frames_a_second(browser: Browser) -> float:
    """Turn the points for two seconds; return the frames per second."""
    frames: float = browser.driver.execute_async_script(
        """const done = arguments[0], start = performance.now(); let n = 0;
        const step = () => {
          const spent = performance.now() - start;
          gradcon.set({ yaw: ++n / 50 });
          spent < 2000 ? requestAnimationFrame(step) : done(n / spent * 1000);
        };
        requestAnimationFrame(step)"""
    )
    return frames


def test_size_and_speed(browser: Browser, folders: list[Path], tmp_path: Path) -> None:
    report = write_report([large_result(folders[0], tmp_path / "large")], tmp_path / "large.html")
    assert report.left_out == []
    assert report.size < 12e6
    assert any(opened(browser, report.path) < 2000 for _ in range(TRIES))
    counted = re.findall(r"[\d,]+", browser.text(".cloud .about"))
    assert 99_000 < int(counted[0].replace(",", "")) <= 100_000
    assert any(frames_a_second(browser) > 10 for _ in range(TRIES))  # without a GPU
    wait_until(lambda: browser.find(POINTS).get_attribute("data-drawn") == counted[0].replace(",", ""))


def test_bare_result_beside_a_full_one_of_another_size(browser: Browser, folders: list[Path], tmp_path: Path) -> None:
    """A result without views, truth, weights, uncertainty, history and cameras says in words what is missing."""
    bare = bare_result(tmp_path / "bare", np.where(np.indices((30, 40)).sum(0) % 7, 1.5, np.nan))
    for pair in ([bare], [bare, folders[0]]):
        browser.open(write_report(pair, tmp_path / "page.html").path)
        browser.move(PICTURE, 0.51, 0.26)
        assert "20, 7" in browser.text("#r0 .readout")
        assert "1.5" in browser.text("#r0 .readout [data-name=disparity]")
        assert "not to scale" in browser.text(".cloud[data-key=r0] .about")
        browser.press(PICTURE, "right")  # 21 + 7 is a multiple of 7
        assert "unknown" in browser.text("#r0 .readout [data-name=disparity]")
    x, y = map(int, re.findall(r"\d+", browser.text("#r1 .readout [data-name=pixel] dd")))
    assert (x, y) == pytest.approx((21.5 / 40 * SIZE, 7.5 / 30 * SIZE), abs=1)
    for name in ("views", "error", "badpix", "uncertainty"):
        browser.js("gradcon.set({ map: arguments[0] })", name)
        browser.settle()
        assert "has no" in browser.text("#r0 figcaption")


def test_numbers_that_make_no_sense_break_nothing(browser: Browser, folders: list[Path], tmp_path: Path) -> None:
    steps = [{"solve": 1, "step_mean": -1, "rmse": -5}, {"solve": 10**9, "step_mean": 1e308, "rmse": 1e308}]
    flat = [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    changes: list[dict[str, Any]] = [
        {"history": steps, "views": None},
        {"history": [{"solve": 1, "step_mean": 0, "rmse": 0}], "calibration__product": 1e308},
        {"calibration__K": flat, "source__baselines": [[0, 0]] * 16},
        {"calibration__offset": 1e308, "source__baselines": [[1e308, -1e308]] * 16},
        {"views__baselines": [[0, 0], *[[1e308, 1e308], [1e200, 3]] * 8]},
        {"views__baselines": [[0, 0], *[[1e200, 3], [1e-300, -1e-200]] * 8]},
    ]
    for k, fields in enumerate(changes):
        folder = Path(shutil.copytree(folders[0], tmp_path / str(k)))
        edit(folder, **fields)
        browser.open(write_report([folder, folders[1]], tmp_path / "page.html").path)
        for name in ("views", "error", "badpix", "uncertainty"):
            browser.js("gradcon.set({ map: arguments[0], solve: 1, yaw: 1, right: 5, down: 1e300, aperture: 4 })", name)
            browser.settle()
        assert browser.complaints() == [], fields
