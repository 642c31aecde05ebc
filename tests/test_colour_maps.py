"""The colour maps to choose from: each draws another picture, and an unknown one is refused."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from conftest import CHECKOUT
from gradcon import InputError, cli, write_report
from gradcon.pictures.colour_maps import COLOUR_MAPS, colour_map, range_for
from gradcon.pictures.maps import disparity_picture
from report_folders import small_results

RAMP = np.tile(np.linspace(-1, 3, 200, dtype=np.float32), (100, 1))


def colours(png: bytes) -> np.ndarray:
    """Return the colours of the map, from left to right, half-way down a picture of RAMP."""
    pixels = np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)
    row = pixels[pixels.shape[0] // 2]
    inside = np.flatnonzero((row < 250).any(axis=1))
    end = inside[np.flatnonzero(np.diff(inside) > 3)[0]]  # the gap before the colour bar
    return row[inside[0] + 2 : end - 2]


@pytest.mark.parametrize("name", COLOUR_MAPS)
def test_a_picture_has_the_colours_that_were_asked_for(name: str) -> None:
    seen = colours(disparity_picture(RAMP, "", name))
    table = np.asarray(colour_map(name)(np.arange(256), bytes=True))[:, :3].astype(int)
    assert np.abs(seen[:, None] - table[None]).max(axis=2).min(axis=1).max() <= 3
    assert np.abs(seen[-5] - table[-1]).max() < 20  # near is at the bright or the red end


def test_the_default_is_viridis() -> None:
    assert disparity_picture(RAMP, "a") == disparity_picture(RAMP, "a", "viridis")


def test_the_diverging_map_is_neutral_at_0() -> None:
    assert range_for("coolwarm", -1, 3) == (-3, 3)
    assert range_for("viridis", -1, 3) == (-1, 3)
    seen = colours(disparity_picture(RAMP, "", "coolwarm"))
    assert np.ptp(seen[len(seen) // 4]) < 8  # the ramp passes 0 after a quarter
    assert seen[0][2] > seen[0][0]
    assert seen[-1][0] > seen[-1][2]


def test_equal_steps_of_the_uniform_maps_grow_brighter_evenly() -> None:
    for name in ("viridis", "cividis", "magma", "grey"):
        luma = np.asarray(colour_map(name)(np.arange(256)))[:, :3] @ (0.2126, 0.7152, 0.0722)
        assert np.all(np.diff(luma) > -0.003), name
        assert luma[-1] - luma[0] > 0.6, name


def test_an_unknown_map_is_refused_by_all_who_draw(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for draw in (
        lambda: disparity_picture(RAMP, "", "jet"),
        lambda: write_report(small_results()[:1], tmp_path / "page.html", cmap="jet"),
    ):
        with pytest.raises(InputError, match=r"^cmap: 'jet' is not a colour map; use viridis, .* or coolwarm"):
            draw()
    # The command refuses it before it looks for the scene.
    assert cli.main(["estimate", str(tmp_path / "none"), "--out", str(tmp_path / "out"), "--cmap", "jet"]) == 2
    assert "'jet' is not a colour map" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_page_takes_a_colour_map(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = small_results()[0]
    page = tmp_path / "page.html"
    assert cli.main(["report", str(folder), "--out", str(page), "--cmap", "coolwarm"]) == 0
    data = json.loads(re.findall(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page.read_text())[0])
    assert data["colours"]["disparity"].startswith(bytes(colour_map("coolwarm")(0, bytes=True)[:3]).hex())
    low, high = data["scales"]["disparity"]
    assert low == -high


def test_estimate_writes_the_picture_in_the_chosen_colours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["synth", "planes", "--size", "48", "--out", str(tmp_path / "scene")]) == 0
    pictures = []
    for name in ("viridis", "grey"):
        out = tmp_path / name
        assert cli.main(["estimate", str(tmp_path / "scene"), "--out", str(out), "--cmap", name]) == 0
        pictures.append(np.asarray(Image.open(out / "disparity.png").convert("RGB")).astype(int))
    assert np.ptp(pictures[0], axis=2).max() > 100
    assert np.ptp(pictures[1], axis=2).max() == 0


def test_the_guide_describes_every_map() -> None:
    text = (CHECKOUT / "docs" / "guide" / "notebooks.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", text, re.MULTILINE))
    assert rows.keys() == COLOUR_MAPS.keys()
    assert all(meaning in rows[name] for name, meaning in COLOUR_MAPS.items())
