"""What the page says about views and cameras, also to screen readers, and how it looks with forced colours."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from browser import Browser, missing
from gradcon.report import write_report
from report_folders import SIZE, copy_to_change, edit, read_weights, save_weights
from waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing() or "there is a browser")]

PICTURE, SENTENCE = "#r0 canvas.map", ".trust[data-key=r0] .sentence"


@pytest.fixture
def result(folders: list[Path], tmp_path: Path) -> Path:
    return copy_to_change(folders[0], tmp_path / "result")


def summary(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "result.json").read_text()))


def say_codes(folder: Path, codes: np.ndarray[Any, Any]) -> None:
    """Write the same shares, (scales, views), at every pixel and solve."""
    weights = read_weights(folder / "weights.npz")
    same = np.broadcast_to(codes.astype(np.uint8), weights["codes"].shape)
    save_weights(folder / "weights.npz", **(weights | {"codes": np.ascontiguousarray(same)}))


def sentence(browser: Browser, folder: Path) -> str:
    browser.open(write_report([folder], folder.with_suffix(".html")).path)
    return browser.text(SENTENCE)


def test_views_that_are_trusted_equally_have_no_favourite(browser: Browser, result: Path) -> None:
    targets = summary(result)["source"]["targets"]
    codes = np.zeros((3, len(targets)))
    codes[2] = 64  # a sixteenth of the trust each
    say_codes(result, codes)
    assert "All views are trusted equally, 6 % each; the far views have 50 % in total." in sentence(browser, result)
    codes[2, 3] = 65  # a difference that rounding can make
    say_codes(result, codes)
    assert "All views are trusted equally" in sentence(browser, result)
    codes[2] = 0
    codes[2, :4] = 128  # only a few views are in use
    say_codes(result, codes)
    assert "The 4 views in use are trusted equally, 25 % each" in sentence(browser, result)
    codes[2, 4] = 140
    say_codes(result, codes)
    assert f"The most trusted view is {targets[4]}, with 2" in sentence(browser, result)
    codes[2] = 0
    codes[2, 5] = 255
    say_codes(result, codes)
    assert f"The most trusted view is {targets[5]}, with 100 %" in sentence(browser, result)


def test_baselines_of_one_length_are_neither_near_nor_far(browser: Browser, result: Path) -> None:
    assert "far views" in sentence(browser, result)
    assert len(browser.driver.find_elements("css selector", ".trust .stack")) == 2
    count = len(summary(result)["source"]["targets"])
    edit(result, source__baselines=[[2, 0], [0, -2]] * (count // 2))
    assert "far" not in sentence(browser, result)
    assert len(browser.driver.find_elements("css selector", ".trust .stack")) == 1


def rig(folder: Path, baselines: list[list[float]], of: int) -> None:
    """Put views of these baselines on the sheet, the first being the reference, of a scene of `of` views."""
    Image.new("RGB", (8 * len(baselines), 8)).save(folder / "views.jpg")
    names = [f"view {k}" for k in range(len(baselines))]
    sheet = {"file": "views.jpg", "columns": len(names), "width": 8, "height": 8, "names": names, "planar": True}
    edit(
        folder,
        views=sheet | {"baselines": baselines},
        source__targets=[f"t{k}" for k in range(of - 1)],
        source__baselines=[[1.0, 0.0]] * (of - 1),
    )
    (folder / "weights.npz").unlink()


def test_cameras_on_one_side_share_the_picture(browser: Browser, result: Path, tmp_path: Path) -> None:
    at = [0, -1, 1, 2, 3, 4, 5]  # to the right
    rig(result, [[-float(x), 0.0] for x in at], of=7)
    browser.open(write_report([result], tmp_path / "page.html").path)
    browser.press(PICTURE, "1")
    assert "reference view 0" in browser.text("#r0 figcaption")  # before anything is moved
    assert "of the 7" not in browser.text("#r0 figcaption")
    seen = []
    for x in (np.arange(28) + 0.5) / 28:
        browser.js("gradcon.set({ camera: [arguments[0], 0] })", 2 * float(x) - 1)
        browser.settle()
        seen.append(at[int(browser.find(PICTURE).get_attribute("data-view"))])
    assert seen == sorted(seen)
    shares = [seen.count(x) / len(seen) for x in at]
    assert min(shares) > 0.05
    assert max(shares) < 0.25


def test_views_that_are_not_on_the_sheet_are_counted(browser: Browser, result: Path, tmp_path: Path) -> None:
    rig(result, [[0, 0], [1, 0], [-1, 0]], of=81)
    browser.open(write_report([result], tmp_path / "page.html").path)
    browser.press(PICTURE, "1")
    assert "3 of the 81 views are in this page" in browser.text("#r0 figcaption")


def test_the_legend_names_both_ends_of_the_scale(browser: Browser, one: Path) -> None:
    browser.open(one)
    number = r"-?[\d.]+"
    for key, text in {
        "2": rf"≤ {number} \(far\)≥ {number} \(near\)pixels per unit baseline unknown",
        "3": rf"≤ {number} \(too far\)≥ {number} \(too near\)pixels per unit baseline unknown",
        "4": r"error at most 0.07error above 0.07 unknown",
        "5": rf"0 \(certain\)≥ {number} \(uncertain\)pixels per unit baseline unknown",
    }.items():
        browser.press(PICTURE, key)
        assert re.fullmatch(text, browser.text("#legend")), browser.text("#legend")


def test_captions_are_spoken(browser: Browser, two: Path, folders: list[Path]) -> None:
    browser.open(two)

    def spoken(*parts: str) -> None:
        wait_until(lambda: all(part in browser.text("#spoken") for part in parts))

    spoken("A: disparity from", "pixel 48, 48", "B: disparity from")
    browser.press(PICTURE, "3")
    spoken("A: RMSE", "B: RMSE")
    assert "pixel" not in browser.text("#spoken")  # it has not changed
    browser.press(PICTURE, "4")
    spoken("A: BadPix")
    browser.find("input[name=threshold][value='0.01']").click()
    spoken("(error above 0.01)")
    browser.press(PICTURE, "1")
    views = summary(folders[0])["views"]
    spoken(f"A: reference {views['names'][0]}")
    browser.press(PICTURE, "right")
    spoken(f"A: view {views['names'][views['baselines'].index([-1, 0])]}")
    browser.press(PICTURE, "2")
    spoken("A: disparity from")
    browser.press(PICTURE, "right")
    spoken(f"A: pixel {SIZE // 2 + 1}, {SIZE // 2}")


def test_choices_and_swatches_with_forced_colours(browser: Browser, one: Path) -> None:
    browser.open(one)
    forced = {"features": [{"name": "forced-colors", "value": "active"}]}
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", forced)
    try:
        browser.press(PICTURE, "4")
        ground = "return getComputedStyle(document.querySelector(arguments[0])).backgroundColor"
        chosen = browser.js(ground, "input[name=map]:checked + span")
        assert chosen != browser.js(ground, "input[name=map]:not(:checked) + span")
        assert browser.js(ground, ".swatch.good") == "rgb(42, 90, 138)"
        assert browser.js(ground, ".swatch.bad") == "rgb(255, 200, 79)"
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
