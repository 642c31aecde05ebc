"""The picture of a map: colours like matplotlib's, round ticks, and any title."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from gradcon.pictures.axis_ticks import ticks
from gradcon.pictures.colour_maps import COLOUR_MAPS, colour_map
from gradcon.pictures.colour_tables import colour_table
from gradcon.pictures.map_plate import LEFT, MAP_WIDTH, TOP
from gradcon.pictures.maps import disparity_picture


@pytest.mark.parametrize("name", COLOUR_MAPS)
def test_the_tables_are_matplotlib_s(name: str) -> None:
    theirs = np.asarray(colour_map(name)(np.arange(256), bytes=True))[:, :3]
    assert np.abs(colour_table(name).astype(int) - theirs).max() <= 1  # its versions round differently


@pytest.mark.parametrize(
    ("low", "high", "most", "texts"),
    [
        (0.2, 1.9, 5, ["0.5", "1.0", "1.5"]),
        (-1.8, 1.2, 9, ["−1.5", "−1.0", "−0.5", "0.0", "0.5", "1.0"]),  # noqa: RUF001
        (-157, 157, 9, ["−150", "−100", "−50", "0", "50", "100", "150"]),  # noqa: RUF001
        (0.0, 0.02, 5, ["0.000", "0.005", "0.010", "0.015", "0.020"]),
        (3.0, 3.0, 9, ["3"]),
        (1e30, 1e30, 9, ["1e+30"]),
        (0.0, 4e7, 5, ["0", "1e+07", "2e+07", "3e+07", "4e+07"]),
    ],
)
def test_ticks_are_round(low: float, high: float, most: int, texts: list[str]) -> None:
    found = ticks(low, high, most)
    assert [text for _, text in found] == texts
    assert all(low <= value <= high for value, _ in found)


@pytest.mark.parametrize("shape", [(5, 7), (512, 512), (900, 1300), (3, 400)])
def test_each_place_shows_the_value_that_is_there(shape: tuple[int, int]) -> None:
    values = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    n = max(1, min(shape) // 100)  # what a large map shows in its corner need not be its first pixel
    values[:n, :n], values[-n:, -n:] = -100, 100  # beyond the range that is shown
    values[:n, -n:] = np.nan
    png = disparity_picture(values, "")
    shown = np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))[TOP:, LEFT : LEFT + MAP_WIDTH]
    table = colour_table("viridis")
    height = round(MAP_WIDTH * min(max(shape[0] / shape[1], 0.25), 3.0))
    np.testing.assert_array_equal(shown[0, 0], table[0])
    np.testing.assert_array_equal(shown[height - 1, -1], table[-1])
    np.testing.assert_array_equal(shown[0, -1], 255)
    np.testing.assert_array_equal(shown[height], 255)


def test_any_title_fits() -> None:
    values = np.zeros((20, 30), np.float32)
    for title in ("", "a\nb", "long " * 100, "$x_ \u6f22 \\frac{", "\u0000"):
        picture = np.asarray(Image.open(io.BytesIO(disparity_picture(values, title))).convert("L"))
        assert (picture[:, :1] == 255).all(), title
