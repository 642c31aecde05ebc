"""The page of a folder with a map for every view: the reference's result, with the points of all maps fused."""

from __future__ import annotations

import base64
import json
import re
import shutil
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browser import Browser, missing
from gradcon import EveryView, FusedCloud, cli, estimate_views, fuse, report, synth
from gradcon.errors import InputError
from gradcon.report import every_view, fused, write_report
from report_folders import large_result
from waiting import wait_until

in_browser = pytest.mark.skipif(bool(missing()), reason=missing() or "there is a browser")

SIZE = 64
CLOUD = ".cloud[data-key=r0]"


@pytest.fixture(scope="module")
def every() -> EveryView:
    scene = synth.render("occlusion", size=(SIZE, SIZE), views=5)
    return estimate_views(scene, engine="cpu")


@pytest.fixture(scope="module")
def views(every: EveryView, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return every.save(tmp_path_factory.mktemp("every") / "views")


@pytest.fixture(scope="module")
def cloud(every: EveryView) -> FusedCloud:
    return fuse(every)


def shown(page: Path) -> tuple[dict[str, Any], np.ndarray[Any, Any] | None, np.ndarray[Any, Any] | None]:
    """Return what the page tells of its first result, and the places and colours of its fused points."""
    text = page.read_text(encoding="utf-8")
    about = json.loads(re.search(r'id="data">(.*?)</script>', text)[1])["results"][0]  # type: ignore[index]
    packed = re.search(r'id="r0-fused">(.*?)</script>', text)
    if packed is None:
        return about, None, None
    content = zlib.decompress(base64.b64decode(packed[1]))
    count = about["fused"]["count"]
    places = np.frombuffer(content, "<f4", 3 * count).reshape(3, count).T
    return about, places, np.frombuffer(content, np.uint8, offset=12 * count).reshape(count, 3)


def in_order(points: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return points[np.lexsort(points.T)]


def test_the_page_holds_the_fused_cloud(every: EveryView, views: Path, cloud: FusedCloud, tmp_path: Path) -> None:
    page = write_report([views], tmp_path / "page.html")
    assert page.left_out == []
    assert page.shown == [views]
    about, places, colours = shown(page.path)
    assert places is not None
    assert colours is not None
    assert about["reference"] == every.scene.reference_name
    assert about["label"] == "views"
    assert about["fused"]["of"] == len(cloud) == len(places)
    assert about["fused"]["maps"] == 5
    assert np.array_equal(in_order(places), in_order(cloud.positions))
    of_reference = every.results[every.scene.reference_name].points(keep=1.0)
    assert len(places) > len(of_reference)  # other views show what the reference does not
    assert sorted(map(bytes, colours)) != sorted(map(bytes, of_reference.colours))


def test_a_result_of_one_view_has_no_fused_points(every: EveryView, views: Path, tmp_path: Path) -> None:
    about, places, _ = shown(write_report([views / every.scene.reference_name], tmp_path / "page.html").path)
    assert about["fused"] is None
    assert places is None


def test_points_beyond_the_limit_are_left_out_evenly(
    views: Path, cloud: FusedCloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = len(cloud) // 4
    monkeypatch.setattr(fused, "MAX_POINTS", most)
    about, places, _ = shown(write_report([views], tmp_path / "page.html").path)
    assert places is not None
    assert (about["fused"]["count"], about["fused"]["of"]) == (most, len(cloud))
    order = cloud.spread(len(cloud))
    assert sorted(order) == list(range(len(cloud)))
    first = np.zeros((SIZE, SIZE), bool)  # the pixels of the reference among the points in the page
    v, u = np.nonzero(cloud._numbers[0] >= 0)
    first[v, u] = np.isin(cloud._numbers[0][v, u], order[:most])
    quarters = [part.mean() for half in np.split(first, 2) for part in np.split(half, 2, axis=1)]
    assert quarters == pytest.approx([0.25] * 4, abs=0.06)


def damaged(views: Path, place: Path, name: str, file: str) -> Path:
    shutil.copytree(views, place)
    path = place / name / file
    path.write_bytes(path.read_bytes()[:-9])
    return place


@pytest.mark.parametrize("file", ["disparity.pfm", "agreement.npz", "views.jpg", "result.json"])
def test_a_damaged_view_is_left_out_of_the_cloud(
    every: EveryView, views: Path, tmp_path: Path, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    other = list(every.results)[2]
    folder = damaged(views, tmp_path / "views", other, file)
    assert cli.main(["report", str(folder), "--out", str(tmp_path / "page.html")]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"gradcon: {folder / other}")
    assert said.endswith("The fused points leave this view out.\n")
    assert said.count("\n") == 1
    about, places, _ = shown(tmp_path / "page.html")
    rest = [result for name, result in every.results.items() if name != other]
    assert about["fused"]["maps"] == 4
    # The maps in the folder know what other views contradict, and those in `rest` do not.
    assert places is not None
    assert len(places) == pytest.approx(len(fuse(rest)), rel=0.1)


def test_a_missing_view_is_left_out_of_the_cloud(every: EveryView, views: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(views, tmp_path / "views"))
    shutil.rmtree(folder / list(every.results)[1])
    page = write_report([folder], tmp_path / "page.html")
    assert len(page.left_out) == 1
    assert shown(page.path)[0]["fused"]["maps"] == 4


def test_without_any_pictures_the_page_shows_the_points_of_the_reference(views: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(views, tmp_path / "views"))
    for picture in folder.glob("*/views.jpg"):
        picture.unlink()
    page = write_report([folder], tmp_path / "page.html")
    assert any(said.endswith("The page shows the points of the reference alone.") for said in page.left_out)
    assert not any("fused points" in said for said in page.left_out)  # there are none
    assert shown(page.path)[0]["fused"] is None


def test_without_its_reference_the_folder_cannot_be_shown(every: EveryView, views: Path, tmp_path: Path) -> None:
    folder = damaged(views, tmp_path / "views", every.scene.reference_name, "disparity.pfm")
    with pytest.raises(InputError, match=re.escape(str(folder / every.scene.reference_name))):
        write_report([folder], tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_maps_that_cannot_be_fused_leave_the_points_of_the_reference(
    views: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise InputError("occlusion", "no point is left", "give other maps")

    monkeypatch.setattr(every_view, "fuse_maps", refuse)
    page = write_report([views], tmp_path / "page.html")
    said = "occlusion: no point is left; give other maps. The page shows the points of the reference alone."
    assert page.left_out == [said]
    assert shown(page.path)[0]["fused"] is None


@pytest.mark.slow
@in_browser
def test_the_browser_draws_the_fused_cloud(browser: Browser, views: Path, cloud: FusedCloud, tmp_path: Path) -> None:
    browser.open(write_report([views], tmp_path / "page.html").path)
    about = browser.text(f"{CLOUD} .about")
    assert about.startswith(f"{len(cloud):,} points, in mm: the maps of 5 views fused, each surface once. ")
    confirmed = int(np.median(cloud.views)) - 1
    assert f"{confirmed} other map" in about
    assert f"Of {cloud.counts.pixels:,} pixels, {cloud.counts.merged:,} are merged" in about
    assert cloud.counts.reasons() in about
    canvas = browser.find(f"{CLOUD} canvas")
    assert canvas.get_attribute("aria-label") == f"point cloud, {about}"
    browser.js("arguments[0].scrollIntoView({block: 'center'})", canvas)
    wait_until(lambda: canvas.get_attribute("data-drawn") == str(len(cloud)))
    before = canvas.screenshot_as_png
    browser.press(f"{CLOUD} canvas", "left", "left")
    assert canvas.screenshot_as_png != before
    assert browser.complaints() == []


@pytest.mark.slow
@in_browser
def test_uncalibrated_maps_are_not_fused(browser: Browser, tmp_path: Path) -> None:
    scene = synth.render("planes", size=(48, 48), views=3)
    scene.calibration = None
    folder = estimate_views(scene, engine="cpu").save(tmp_path / "views")
    page = write_report([folder], tmp_path / "page.html")
    assert page.left_out == []
    browser.open(page.path)
    about = browser.text(f"{CLOUD} .about")
    assert "the most certain pixels of the final disparity" in about
    assert about.endswith("; the 3 maps are not fused because the cameras are not calibrated")


def test_the_page_stays_small_with_as_many_fused_points_as_it_can_hold(
    folders: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even with kept weights, which an estimate of every view does not have."""
    result = every_view.read_folder(large_result(folders[0], tmp_path / "large"))
    random = np.random.default_rng(0)
    places = random.uniform(-3000, 3000, (fused.MAX_POINTS, 3)).astype(np.float32)
    colours = random.integers(0, 256, places.shape, np.uint8)
    result.fused = fused.FusedPoints(places, colours, 281_295, 17, 16, 4_456_448, 4_164_433, "0")
    monkeypatch.setattr(report, "read_result", lambda _: result)
    page = write_report([tmp_path / "large"], tmp_path / "page.html")
    assert page.left_out == []
    assert page.size < 12e6
