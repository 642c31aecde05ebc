"""The new views of the page: between the cameras, and through a wide lens, against real views and known scenes."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from browser import Browser, missing
from gradcon import Result, Scene, estimate, refocus, synth, synthesise
from gradcon.report import write_report
from report_folders import bare_result, edit
from waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing() or "there is a browser")]

PICTURE = ".new-view[data-key=r0] canvas"
ABOUT = ".new-view[data-key=r0] .about"
SIZE = 128
Pixels = np.ndarray[Any, Any]


def seen(browser: Browser, selector: str = PICTURE) -> Pixels:
    """Return the pixels of a canvas, (height, width, 3)."""
    browser.settle()
    width, height, values = browser.js(
        """const c = document.querySelector(arguments[0]), { width, height } = c;
        return [width, height, [...c.getContext("2d").getImageData(0, 0, width, height).data]]""",
        selector,
    )
    return np.array(values, float).reshape(height, width, 4)[..., :3]


def at(browser: Browser, **state: Any) -> Pixels:
    """Return the new view in a state of the page."""
    browser.js("gradcon.set(arguments[0])", state)
    return seen(browser)


def psnr(a: Pixels, b: Pixels) -> float:
    return float(-10 * np.log10(np.mean((a - b) ** 2) / 255**2))


def write_sheet(folder: Path, pictures: list[Pixels], columns: int) -> None:
    """Write the copies of the views without the losses of an ordinary JPEG."""
    height, width = pictures[0].shape[:2]
    sheet = Image.new("RGB", (columns * width, -(-len(pictures) // columns) * height))
    for k, picture in enumerate(pictures):
        sheet.paste(Image.fromarray(np.rint(picture).astype(np.uint8)), (k % columns * width, k // columns * height))
    sheet.save(folder / "views.jpg", quality=100, subsampling=0)


def view(scene: Scene, k: int) -> Pixels:
    return np.moveaxis(np.clip(scene.colours[k] * (255 * scene.colour_scale), 0, 255), 0, -1)


# ---- Between the cameras ----


@pytest.fixture(scope="module")
def few() -> Scene:
    return synth.render("occlusion", size=(SIZE, SIZE))


@pytest.fixture(scope="module")
def result(few: Scene) -> Result:
    return estimate(few, engine="cpu")


@pytest.fixture(scope="module")
def page(few: Scene, result: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = result.save(tmp_path_factory.mktemp("new-views") / "result")
    summary = json.loads((folder / "result.json").read_text())
    del summary["files"]  # the hashes of the files
    (folder / "result.json").write_text(json.dumps(summary))
    names = [few.reference_name, *few.target_names]
    pictures = [view(few, names.index(name)) for name in summary["views"]["names"]]
    write_sheet(folder, pictures, summary["views"]["columns"])
    return write_report([folder], folder.with_suffix(".html")).path


def test_at_a_cameras_place_the_new_view_is_its_view(browser: Browser, page: Path, few: Scene) -> None:
    browser.open(page)
    for k in (0, 3, 7, 12):
        right, down = map(float, -few.baselines[k])
        real = view(few, 1 + k)
        assert psnr(at(browser, right=right, down=down), real) > 45
        assert psnr(at(browser, right=-right, down=-down), real) < 35


def test_between_the_cameras_it_is_as_a_camera_there_sees_it(
    browser: Browser, page: Path, few: Scene, result: Result
) -> None:
    browser.open(page)
    full = synth.render("occlusion", size=(SIZE, SIZE), views="all")
    cameras = [tuple(map(float, -B)) for B in few.baselines]
    reach = np.max(np.abs(cameras), axis=0)
    ours, best, nearest = [], [], []
    for k, B in enumerate(full.baselines):
        place = float(-B[0]), float(-B[1])
        if place in cameras or (np.abs(place) > reach).any() or sum(place) % 3:
            continue
        real = view(full, 1 + k)
        ours.append(psnr(at(browser, right=place[0], down=place[1]), real))
        best.append(psnr(255 * synthesise(few, result, place).astype(float), real))
        nearest.append(psnr(view(few, 1 + int(np.argmin([np.hypot(*np.subtract(c, place)) for c in cameras]))), real))
    assert len(ours) > 3
    assert np.mean(ours) > np.mean(best) - 2.5  # which interpolates with more taps
    assert np.mean(ours) > np.mean(nearest) + 4


def test_at_first_it_is_the_reference(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.press("#r0 canvas.map", "1")
    reference = seen(browser, "#r0 canvas.map")
    assert browser.find("#r0 canvas.map").get_attribute("data-view") == "0"
    assert np.array_equal(seen(browser), reference)
    assert browser.text(ABOUT) == "The view of the reference. Everything is sharp."
    assert not np.array_equal(at(browser, right=0.5, aperture=4), reference)
    browser.find("#new-views .sliders button").click()
    assert np.array_equal(seen(browser), reference)


def test_sliders_reach_as_far_as_the_cameras(browser: Browser, page: Path, few: Scene) -> None:
    browser.open(page)
    place = "return [gradcon.state.right, gradcon.state.down, gradcon.state.aperture]"
    ends = {"end": "\ue010", "home": "\ue011"}
    browser.press("input[name=right]", ends["end"])
    browser.press("input[name=down]", ends["home"])
    assert browser.js(place)[:2] == [-few.baselines[:, 0].min(), -few.baselines[:, 1].max()]
    browser.press("input[name=right]", "left")
    right = browser.js(place)[0]
    assert -few.baselines[:, 0].min() - 0.2 < right < -few.baselines[:, 0].min()
    said = f"{right:g} to the right"
    assert browser.text("#new-views label output") == said
    assert browser.find("input[name=right]").get_attribute("aria-valuetext") == f"{said}, in unit baselines"
    assert browser.text(ABOUT).startswith(f"The view from {said} and ")
    browser.press("input[name=aperture]", "right", "right")
    assert browser.js(place)[2] > 0
    assert "Sharp at pixel 64, 64, where the disparity is " in browser.text(ABOUT)
    wait_until(lambda: browser.text("#spoken") == browser.text(ABOUT))
    assert browser.find(PICTURE).get_attribute("aria-label") == f"new view, {browser.text(ABOUT)}"
    while right > 0:
        before = right
        browser.press("input[name=right]", "left")
        right = browser.js(place)[0]
        assert right < before
    assert right == 0  # the reference is one of the positions


def test_through_a_lens_it_is_what_refocus_makes(browser: Browser, page: Path, few: Scene, result: Result) -> None:
    browser.open(page)
    sharp = seen(browser)
    for x, y in ((20, 20), (40, 90), (70, 120)):
        chosen = {"x": (x + 0.5) / SIZE, "y": (y + 0.5) / SIZE, "of": "", "w": 0}
        picture = 255 * refocus(few, result, (x, y), 4.0).astype(float)
        found = psnr(at(browser, aperture=4, sharp=chosen), picture)
        assert found > 37
        assert found > psnr(sharp, picture) + 5


# ---- A wide lens, in a scene of a red square before a green wall, which is blue behind the square ----

WIDTH, HEIGHT, NEAR, WALL = 120, 90, 2.0, 0.0
LEFT, TOP, SIDE = 50, 30, 36
STEP = 4  # unit baselines between two cameras


def seen_from(right: float) -> Pixels:
    random = np.random.default_rng(0)
    picture = np.zeros((HEIGHT, WIDTH, 3))
    picture[..., 1] = random.integers(90, 250, (HEIGHT, WIDTH))
    hidden = slice(TOP, TOP + SIDE), slice(LEFT, LEFT + SIDE)
    picture[hidden] = (0, 0, 240)
    left = LEFT - round(right * NEAR)
    square = picture[TOP : TOP + SIDE, left : left + SIDE]
    square[...] = 0
    square[..., 0] = random.integers(90, 250, (SIDE, SIDE))
    return picture


def squares(folder: Path, cameras: list[float], **views: Any) -> Path:
    disparity = np.full((HEIGHT, WIDTH), WALL, np.float32)
    disparity[TOP : TOP + SIDE, LEFT : LEFT + SIDE] = NEAR
    sheet = {"file": "views.jpg", "columns": len(cameras), "width": WIDTH, "height": HEIGHT, "planar": True}
    names, baselines = [f"camera {k}" for k in range(len(cameras))], [[0.0 - right, 0.0] for right in cameras]
    bare_result(folder, disparity, views=sheet | {"names": names, "baselines": baselines} | views)
    write_sheet(folder, [seen_from(right) for right in cameras], len(cameras))
    return write_report([folder], folder.with_suffix(".html")).path


@pytest.mark.parametrize("right", [2.0, -2.0, 1.0, -3.0])
def test_near_surfaces_hide_far_ones_from_every_side(browser: Browser, tmp_path: Path, right: float) -> None:
    browser.open(squares(tmp_path / "a", THREE))
    # What the square uncovers is blue, and only another camera shows it.
    assert np.abs(at(browser, right=right) - seen_from(right)).max() <= 12  # a JPEG of noise loses so much


def sharp_at(x: int, y: int) -> dict[str, Any]:
    return {"x": (x + 0.5) / WIDTH, "y": (y + 0.5) / HEIGHT, "of": "", "w": 0}


INSIDE = np.zeros((HEIGHT, WIDTH), bool)
INSIDE[TOP : TOP + SIDE, LEFT : LEFT + SIDE] = True
ON_WALL, ON_SQUARE = sharp_at(10, 10), sharp_at(LEFT + SIDE // 2, TOP + SIDE // 2)
APERTURE = 5  # blurs to discs of 10 pixels
ONE, THREE = [0.0], [0.0, -STEP, STEP]


def contrast(picture: Pixels, where: Pixels, part: int) -> float:
    return float(picture[where][:, part].std())


def around(distance: int) -> Pixels:
    """Return the pixels that are at least so far outside the square."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    return np.maximum.reduce([LEFT - x, x - LEFT - SIDE + 1, TOP - y, y - TOP - SIDE + 1]) >= distance


@pytest.mark.parametrize("cameras", [ONE, THREE])
def test_a_sharp_surface_does_not_bleed_into_a_blurred_one(
    browser: Browser, tmp_path: Path, cameras: list[float]
) -> None:
    browser.open(squares(tmp_path / "a", cameras))
    reference = seen(browser)
    picture = at(browser, aperture=APERTURE, sharp=ON_SQUARE)
    assert np.abs(picture - reference)[INSIDE].max() <= 1
    assert picture[~INSIDE][:, 0].max() <= reference[~INSIDE][:, 0].max() + 3  # no red
    assert contrast(picture, ~INSIDE, 1) < 0.3 * contrast(reference, ~INSIDE, 1)
    said = "Sharp at pixel 68, 48, where the disparity is 2.000. A disparity 1 away is blurred to a disc of 5 pixels."
    assert said in browser.text(ABOUT)


@pytest.mark.parametrize("cameras", [ONE, THREE])
def test_a_blurred_surface_spreads_over_a_sharp_one(browser: Browser, tmp_path: Path, cameras: list[float]) -> None:
    browser.open(squares(tmp_path / "a", cameras))
    reference = seen(browser)
    picture = at(browser, aperture=APERTURE, sharp=ON_WALL)
    assert np.abs(picture - reference)[around(7)].max() <= 1
    assert picture[around(1) & ~around(3)][:, 0].mean() > 60  # red, beside the square
    inner = np.zeros_like(INSIDE)
    inner[TOP + 7 : TOP + SIDE - 7, LEFT + 7 : LEFT + SIDE - 7] = True
    assert contrast(picture, inner, 0) < 0.3 * contrast(reference, inner, 0)
    rim = picture[TOP + 10 : TOP + SIDE - 10, [LEFT, LEFT + 1, LEFT + SIDE - 2, LEFT + SIDE - 1]]
    # Past the rim one sees what only other cameras show, or else the wall as it is beside the square.
    shows, hides = (2, 1) if cameras is THREE else (1, 2)
    assert rim[..., shows].min() > 90 * 0.3 ** (1 / 2.2)  # three tenths of the light of the darkest wall
    assert rim[..., hides].max() < 40


def test_a_wider_lens_blurs_more(browser: Browser, tmp_path: Path) -> None:
    browser.open(squares(tmp_path / "a", ONE))
    far = around(12)
    left = [contrast(at(browser, aperture=aperture, sharp=ON_SQUARE), far, 1) for aperture in (0, 1, 2, 4, 8)]
    assert left == sorted(left, reverse=True)
    assert left[-1] < 0.15 * left[0]


def test_a_click_or_the_arrow_keys_choose_what_is_sharp(browser: Browser, tmp_path: Path) -> None:
    browser.open(squares(tmp_path / "a", THREE))
    at(browser, aperture=APERTURE, right=2.0)
    ring = browser.find(".new-view .marker")
    browser.move(
        PICTURE, (LEFT - 3 + 0.5) / WIDTH, (TOP + 20.5) / HEIGHT, click=True
    )  # the square, 4 pixels to the left
    assert "where the disparity is 2.000" in browser.text(ABOUT)
    x = int(re.findall(r"Sharp at pixel (\d+)", browser.text(ABOUT))[0])
    assert x == pytest.approx(LEFT + 1, abs=1)
    assert ring.is_displayed()
    where = float(browser.js("return arguments[0].style.left", ring).removesuffix("%")) / 100 * WIDTH
    assert where == pytest.approx(LEFT - 2.5, abs=1)
    browser.press(PICTURE, "left", "left", "left")
    assert f"Sharp at pixel {x - 3}, " in browser.text(ABOUT)
    assert "where the disparity is 0.000" in browser.text(ABOUT)
    browser.press(PICTURE, "shift", "right")
    assert f"Sharp at pixel {x + 7}, " in browser.text(ABOUT)
    at(browser, aperture=0)
    assert not ring.is_displayed()


# ---- What cannot be shown ----


def displayed(browser: Browser) -> list[str]:
    return [name for name in ("right", "down", "aperture") if browser.find(f"input[name={name}]").is_displayed()]


def test_cameras_in_a_row_have_no_slider_down(browser: Browser, tmp_path: Path) -> None:
    browser.open(squares(tmp_path / "a", THREE))
    assert displayed(browser) == ["right", "aperture"]


def test_turned_cameras_cannot_be_moved(browser: Browser, tmp_path: Path) -> None:
    browser.open(squares(tmp_path / "a", THREE, planar=False))
    assert displayed(browser) == ["aperture"]
    assert "The camera cannot be moved, because " in browser.text(".new-view")
    reference = seen(browser)
    assert np.array_equal(at(browser, right=2.0), reference)
    assert not np.array_equal(at(browser, aperture=APERTURE), reference)


def test_a_result_without_views_says_so(browser: Browser, tmp_path: Path) -> None:
    folder = bare_result(tmp_path / "bare", np.ones((30, 40), np.float32))
    browser.open(write_report([folder], tmp_path / "page.html").path)
    assert browser.text(ABOUT).startswith("No new views: this result has no views.jpg")
    assert displayed(browser) == []


def test_unknown_disparities(browser: Browser, tmp_path: Path) -> None:
    page = squares(tmp_path / "a", THREE)
    views = json.loads((tmp_path / "a" / "result.json").read_text())["views"]
    holes = np.full((HEIGHT, WIDTH), WALL, np.float32)
    holes[:, ::3] = np.nan
    for values, starts in ((holes, "The view of the reference"), (np.nan * holes, "No new views: no pixel")):
        bare_result(tmp_path / starts[:2], values, views=views)
        shutil.copy(tmp_path / "a" / "views.jpg", tmp_path / starts[:2])
        browser.open(write_report([tmp_path / starts[:2]], page).path)
        at_once = browser.text(ABOUT)
        assert at_once.startswith(starts)
        browser.js("gradcon.set({ right: 2, aperture: 3 })")
        browser.settle()


def test_several_results_share_the_sliders(browser: Browser, tmp_path: Path) -> None:
    folders = []
    for k in range(5):
        squares(tmp_path / f"a{k}", ONE if k == 1 else THREE)
        folders.append(tmp_path / f"a{k}")
    edit(folders[2], views__baselines=[[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    browser.open(write_report(folders, tmp_path / "page.html").path)
    at(browser, right=3.0, aperture=APERTURE, sharp=ON_SQUARE)
    texts = [browser.text(f".new-view[data-key=r{k}] .about") for k in range(5)]
    assert texts[0].startswith("The view from 3 to the right")
    assert texts[1].startswith("The view of the reference. Sharp at pixel 68, 48")
    assert texts[2].startswith("The view from 1 to the right")  # as far as its cameras stand
    assert texts[4] == "A page makes new views of its first 4 results."
