"""The points of the page: seen as the reference camera sees them, turned by hand, never stretched, and printed."""

from __future__ import annotations

import base64
import io
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from browser import Browser, missing
from gradcon.report import write_report
from report_folders import bare_result
from waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing() or "there is a browser")]

POINTS = ".cloud[data-key=r0] canvas"
WIDTH, HEIGHT = 120, 90


def square(x: int, y: int, side: int = 20) -> np.ndarray[Any, Any]:
    """Return a far wall with a near square whose corner is at (x, y)."""
    disparity = np.zeros((HEIGHT, WIDTH), np.float32)
    disparity[y : y + side, x : x + side] = 1
    return disparity


def open_points(browser: Browser, folder: Path, disparity: np.ndarray[Any, Any], **sizes: Any) -> None:
    bare_result(folder, disparity, **sizes.pop("fields", {}))
    browser.open(write_report([folder], folder.with_suffix(".html")).path, **sizes)
    browser.js("document.querySelector('#controls').style.position = 'static'")  # or they would cover the points


def seen(browser: Browser) -> np.ndarray[Any, Any]:
    """Return the canvas of the points when all of them are drawn."""
    browser.js("arguments[0].scrollIntoView({block: 'center'})", browser.find(POINTS))
    count = re.findall(r"[\d,]+", browser.text(".cloud .about"))[0].replace(",", "")
    wait_until(lambda: browser.find(POINTS).get_attribute("data-drawn") == count)
    browser.settle()
    return np.asarray(Image.open(io.BytesIO(browser.find(POINTS).screenshot_as_png)).convert("RGB")).astype(int)


def near(picture: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Return where the near things are, which are yellow, as shares of width and height."""
    yellow = (picture[..., 0] > 200) & (picture[..., 1] > 200) & (picture[..., 2] < 120)
    y, x = np.nonzero(yellow)
    assert len(x)
    return float(x.mean()) / picture.shape[1], float(y.mean()) / picture.shape[0]


@pytest.mark.parametrize(("cx", "cy"), [(59.5, 44.5), (10.0, 80.0)])
def test_at_first_points_are_where_the_camera_sees_them(browser: Browser, tmp_path: Path, cx: float, cy: float) -> None:
    K = [[150.0, 0, cx], [0, 150.0, cy], [0, 0, 1]]
    calibration = {"product": 1000.0, "offset": 1.0, "unit": "mm", "K": K}
    open_points(browser, tmp_path / "a", square(15, 10), fields={"calibration": calibration})
    picture = seen(browser)
    assert near(picture) == pytest.approx((25 / WIDTH, 20 / HEIGHT), abs=0.015)
    ground = np.array([247, 247, 245])
    inset = 6
    for row in (inset, -inset):
        for column in (inset, -inset):  # nothing is cropped: the far wall reaches every corner
            assert np.abs(picture[row, column] - ground).max() > 40


@pytest.mark.parametrize(("way", "drag"), [("right", (30, 0)), ("left", (-30, 0)), ("down", (0, 30)), ("up", (0, -30))])
def test_what_is_near_follows_the_hand(browser: Browser, tmp_path: Path, way: str, drag: tuple[int, int]) -> None:
    open_points(browser, tmp_path / "a", square(50, 35))
    at_first = near(seen(browser))

    def moved() -> tuple[int, ...]:
        now = near(seen(browser))
        return tuple(round(20 * (a - b)) for a, b in zip(now, at_first, strict=True))

    side = tuple(np.sign(drag).tolist())
    browser.move(POINTS, 0.5, 0.5, drag=drag)
    assert tuple(np.sign(moved()).tolist()) == side
    browser.find("button[data-turn=reset]").click()
    assert moved() == (0, 0)
    for _ in range(2):
        browser.find(f"button[data-turn={way}]").click()
    assert tuple(np.sign(moved()).tolist()) == side
    browser.press(POINTS, "0", way, way)
    assert tuple(np.sign(moved()).tolist()) == side


@pytest.mark.parametrize("size", [(1366, 500), (640, 360), (360, 740)])
@pytest.mark.parametrize("shape", [(90, 120), (400, 24), (24, 400)])
def test_points_are_not_stretched(
    browser: Browser, tmp_path: Path, size: tuple[int, int], shape: tuple[int, int]
) -> None:
    open_points(browser, tmp_path / "a", np.zeros(shape, np.float32), width=size[0], height=size[1])
    width, height, across, down = browser.js(
        "const c = arguments[0]; return [c.width, c.height, c.clientWidth, c.clientHeight]", browser.find(POINTS)
    )
    assert width / height == pytest.approx(across / down, rel=0.01)
    assert down <= 0.78 * size[1] + 1
    assert min(across, down) > 100  # even a strip leaves something to turn
    shown = np.abs(seen(browser) - np.array([247, 247, 245])).max(axis=-1) > 40
    rows, columns = (np.ptp(np.nonzero(shown.any(axis=axis))[0]) + 1 for axis in (1, 0))
    assert columns / rows == pytest.approx(shape[1] / shape[0], rel=0.25)  # a point is a large part of a strip
    assert columns > 0.9 * across or rows > 0.9 * down


def swipe(browser: Browser, by: tuple[int, int]) -> None:
    """Move a finger over the points, by some pixels."""
    box = browser.js("return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()", POINTS)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def touch(kind: str, *points: dict[str, float]) -> None:
        browser.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": list(points)})

    touch("touchStart", {"x": x, "y": y})
    for k in range(1, 11):
        touch("touchMove", {"x": x + by[0] * k / 10, "y": y + by[1] * k / 10})
    touch("touchEnd")
    browser.settle()


def test_a_finger_turns_or_scrolls(browser: Browser, tmp_path: Path) -> None:
    touch = "Emulation.setTouchEmulationEnabled"
    browser.driver.execute_cdp_cmd(touch, {"enabled": True})
    try:
        open_points(browser, tmp_path / "a", square(50, 35), width=360, height=500)
        browser.js("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", POINTS)
        before = browser.js("return scrollY")
        swipe(browser, (2, -80))
        wait_until(lambda: browser.js("return scrollY") != before)
        assert browser.js("return [gradcon.state.yaw, gradcon.state.pitch]") == [0, 0]
        browser.js("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", POINTS)
        swipe(browser, (80, 4))
        assert browser.js("return gradcon.state.yaw") > 0.3
        assert browser.js("return gradcon.state.pitch") == 0
    finally:
        browser.driver.execute_cdp_cmd(touch, {"enabled": False})


def printed(browser: Browser) -> list[np.ndarray[Any, Any]]:
    """Print the page as a PDF; return its pictures, each as the bytes of its pixels."""
    pdf = base64.b64decode(browser.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})["data"])
    pictures = []
    for found in re.finditer(rb"<<((?:[^<>]|<<[^>]*>>)*/Width(?:[^<>]|<<[^>]*>>)*)>>\s*stream\r?\n", pdf):
        length = int(re.search(rb"/Length (\d+)", found[1])[1])  # type: ignore[index]
        pictures.append(np.frombuffer(zlib.decompress(pdf[found.end() : found.end() + length]), np.uint8))
    return pictures


def test_points_are_printed(browser: Browser, tmp_path: Path) -> None:
    open_points(browser, tmp_path / "a", square(50, 35))
    seen(browser)  # once they are shown, a browser may forget them
    map_of_disparity, points = sorted(printed(browser), key=len)[-2:]
    assert len(map_of_disparity) == 3 * WIDTH * HEIGHT
    assert points.std() > 20


def test_all_facts_fit_on_paper(browser: Browser, two: Path) -> None:
    browser.open(two, width=718)  # the width of A4 between its margins
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        browser.settle()
        over = "const s = document.querySelector('.scroll'); return [s.scrollWidth - s.clientWidth, s.clientWidth]"
        assert browser.js(over)[0] <= 0
        beyond = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert browser.js(beyond) <= 0
        kept = "return getComputedStyle(document.querySelector(arguments[0])).printColorAdjust"
        assert browser.js(kept, ".swatch") == "exact"
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
