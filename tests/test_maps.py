"""Maps in files: they come back as they were written, and other programs can read them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image

from gradcon.errors import InputError
from gradcon.io import maps
from gradcon.io.maps import Map, Steps, losses, png_map, read_map, read_maps, write_map
from gradcon.io.maps.png_map import encode_png_map

OpenEXR = pytest.importorskip("OpenEXR")
FLOATS = (".tif", ".tiff", ".npz", ".exr")
TEXTS = st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
AWKWARD = np.array([[1.5, np.nan, np.inf, -np.inf], [-0.0, 1e-45, 3.4028235e38, -1]], np.float32)
DISPARITY = Map(AWKWARD, "disparity", "pixels per unit baseline", "positive is nearer", "Bild ä.png", "scène")


@st.composite
def any_map(draw: Any) -> Map:
    shape = draw(hnp.array_shapes(min_dims=2, max_dims=2, max_side=5))
    values = draw(hnp.arrays(np.float32, shape, elements=st.floats(width=32, allow_subnormal=True)))
    quantity = draw(st.sampled_from([None, *maps.QUANTITIES]))
    steps = draw(st.none() | st.builds(Steps, st.floats(1e-9, 1e9), st.floats(-1e9, 1e9)))
    return Map(values, quantity, *[draw(TEXTS) for _ in range(4)], steps)


def bits(values: np.ndarray) -> Any:
    """Values to the bit, with all NaNs made equal."""
    return np.where(np.isnan(values), np.uint32(0x7FC00000), values.view(np.uint32)).tolist()


def same(a: Map, b: Map) -> bool:
    return a.texts() == b.texts() and a.steps == b.steps and bits(a.values) == bits(b.values)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(any_map(), st.sampled_from(FLOATS))
def test_floats_and_description_come_back_to_the_bit(tmp_path: Path, map_: Map, suffix: str) -> None:
    assert write_map(tmp_path / f"map{suffix}", map_) == []
    assert same(read_map(tmp_path / f"map{suffix}"), map_)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(any_map())
@example(Map(np.ones((1, 1), np.float32), steps=Steps(1e-9, 1.0)))  # steps that float32 cannot tell apart
def test_png_loses_what_it_says_and_nothing_more(tmp_path: Path, map_: Map) -> None:
    path, again = tmp_path / "map.png", tmp_path / "again.png"
    lost = write_map(path, map_, lossy=True)
    back = read_map(path)
    finite = np.isfinite(map_.values)
    assert back.texts() == map_.texts()
    assert np.array_equal(np.isfinite(back.values), finite)
    assert back.steps is not None
    error = np.abs(back.values[finite].astype(float) - map_.values[finite])
    largest = np.abs(map_.values[finite]).max(initial=0)
    assert (error <= 0.5001 * back.steps.scale + 1e-7 * largest).all()
    assert bool(lost) == bool(error.any() or np.isinf(map_.values).any())
    # What was read from a PNG goes through any float format and back into the same bytes.
    write_map(tmp_path / "through.tif", back)
    assert write_map(again, read_map(tmp_path / "through.tif")) == []
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    "values",
    [[[0, 1], [700, 65534]], [[-3.25, 0.5]], [[1e-45, 1e-45]], [[-7.7, np.nan]], [[0.0, -0.0]], [[np.nan, np.nan]]],
)
def test_png_chooses_a_lossless_scale(tmp_path: Path, values: Any) -> None:
    map_ = Map(np.array(values, np.float32), "depth", "mm")
    assert write_map(tmp_path / "map.png", map_) == []
    np.testing.assert_array_equal(read_map(tmp_path / "map.png").values, map_.values)


def test_png_says_how_much_it_rounds() -> None:
    noise = np.random.default_rng(0).uniform(-2, 2, (40, 50)).astype(np.float32)
    noise[0, 0] = np.inf
    rounded, infinite = losses("map.png", [Map(noise, "disparity", "px")])
    step = (float(noise[noise < 3].max()) - float(noise.min())) / 65534
    assert f"values to steps of {step:.3g} px, by up to " in rounded
    assert float(rounded.split()[-1]) == pytest.approx(step / 2, rel=0.03)
    assert rounded.startswith("rounds 19")
    assert rounded.split(" of ")[1].startswith("2000 values")
    assert infinite == "turns 1 infinite values into unknown ones"


def test_pfm_carries_values_alone(tmp_path: Path) -> None:
    path = tmp_path / "map.pfm"
    with pytest.raises(InputError, match="cannot carry quantity, unit, sign, reference, scene; choose another format"):
        write_map(path, DISPARITY)
    assert not path.exists()
    write_map(path, DISPARITY, lossy=True)
    assert same(read_map(path), Map(AWKWARD))
    assert write_map(tmp_path / "copy.pfm", read_map(path)) == []


# ------------------------------------------------------------------------------ read by other libraries


def test_tiff_is_read_by_others(tmp_path: Path) -> None:
    path = tmp_path / "map.tif"
    write_map(path, DISPARITY)
    assert bits(tifffile.imread(path)) == bits(AWKWARD)
    with Image.open(path) as image:
        assert image.mode == "F"
        assert bits(np.array(image)) == bits(AWKWARD)
        assert json.loads(image.tag_v2[270])["reference"] == "Bild ä.png"


def test_png_is_read_by_others(tmp_path: Path) -> None:
    greys = np.array([[0, 1, 2, 65535]], np.uint16)
    map_ = Map(png_map.from_greys(greys, 0.25, -3.0), "disparity", "px", steps=Steps(0.25, -3.0), scene="scène")
    assert write_map(tmp_path / "map.png", map_) == []
    with Image.open(tmp_path / "map.png") as image:
        texts = dict(image.text)
        assert np.array_equal(np.array(image), greys)
    assert (texts["gradcon:scale"], texts["gradcon:offset"], texts["gradcon:scene"]) == ("0.25", "-3.0", "scène")


def test_npz_is_read_by_others_without_pickles(tmp_path: Path) -> None:
    path = tmp_path / "maps.npz"
    write_map(path, [DISPARITY, Map(AWKWARD, "uncertainty")])
    with np.load(path, allow_pickle=False) as file:
        assert set(file) == {"disparity", "disparity_about", "uncertainty", "uncertainty_about"}
        assert bits(file["disparity"]) == bits(AWKWARD)
        assert json.loads(str(file["disparity_about"]))["sign"] == "positive is nearer"
    assert [map_.quantity for map_ in read_maps(path)] == ["disparity", "uncertainty"]
    assert read_map(path, "uncertainty").unit is None
    with pytest.raises(InputError, match="holds several maps \\(disparity, uncertainty\\)"):
        read_map(path)
    with pytest.raises(InputError, match="holds no depth, only disparity, uncertainty"):
        read_map(path, "depth")


@pytest.mark.parametrize(("quantity", "channel"), [("depth", "Z"), ("disparity", "disparity.V"), (None, "V")])
def test_exr_channel_tells_the_quantity(tmp_path: Path, quantity: str | None, channel: str) -> None:
    path = tmp_path / "map.exr"
    write_map(path, Map(AWKWARD, quantity, "mm"))
    with OpenEXR.File(str(path)) as file:
        assert list(file.channels()) == [channel]
        assert bits(file.channels()[channel].pixels) == bits(AWKWARD)
        assert file.header()["gradcon.unit"] == "mm"
    with OpenEXR.File({"type": OpenEXR.scanlineimage}, {channel: AWKWARD}) as file:  # as another program would
        file.write(str(path))
    assert same(read_map(path), Map(AWKWARD, quantity))


def test_depth_png_of_a_result_is_a_map(tmp_path: Path) -> None:
    data = encode_png_map(np.array([[1000.0, np.nan, 65535]]), 1.0, 0.0, {"quantity": "depth", "unit": "mm"})
    (tmp_path / "depth.png").write_bytes(data)
    map_ = read_map(tmp_path / "depth.png")
    assert same(map_, Map(np.array([[1000, np.nan, 65535]], np.float32), "depth", "mm", steps=Steps(1.0, 0.0)))
    for bad in (0.4, 65535.5, np.inf):
        with pytest.raises(InputError, match=r"^values: 1 of them, such as \S+, do not fit"):
            encode_png_map(np.array([[bad, 2]]), 1.0, 0.0, {})


def test_a_text_too_long_for_a_png_is_reported(tmp_path: Path) -> None:
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    for size, lost in ((60_000, []), (70_000, ["cannot carry reference, of more than 65,436 bytes"])):
        map_ = Map(values, "disparity", reference="x" * size)
        assert losses("map.png", [map_]) == lost
        write_map(tmp_path / "map.png", map_, lossy=True)
        assert (read_map(tmp_path / "map.png").reference is None) == bool(lost)
