"""The small copies of the views in a result: which views, where on the sheet, and in which colours."""

import io
import json

import numpy as np
import pytest
from PIL import Image

from gradcon import Options, Scene, estimate, open_frames, open_scene, synth
from gradcon.io.images import png
from gradcon.pictures.view_sheet import view_sheet
from gradcon.scene.selection import spread

RED, GREEN = (220, 20, 20), (20, 200, 20)


def tiles(scene):
    sheet, about = view_sheet(scene)
    image = np.asarray(Image.open(io.BytesIO(sheet)))
    height, width, columns = about["height"], about["width"], about["columns"]
    found = {}
    for k, name in enumerate(about["names"]):
        top, left = k // columns * height, k % columns * width
        found[name] = image[top : top + height, left : left + width]
    return found, about


def flat(colour, size=(24, 32)):
    return np.full((*size, 3), colour, np.uint8)


@pytest.fixture
def folder(tmp_path):
    """Four views in a row, each of one colour that follows from its column."""
    for column in range(4):
        (tmp_path / f"view_0_{column}.png").write_bytes(png.encode(flat((60 * column, 90, 200 - 60 * column))))
    return tmp_path


def test_every_tile_shows_its_view_in_colour(folder):
    found, about = tiles(open_scene(folder))
    assert about["colour"]
    assert about["baselines"][0] == [0.0, 0.0]
    for column in range(4):
        expected = 60 * column, 90, 200 - 60 * column
        assert found[f"view_0_{column}.png"].mean(axis=(0, 1)) == pytest.approx(expected, abs=4)


def test_flipped_baselines_keep_their_views(folder):
    scene = open_scene(folder).flipped(x=True)
    found, about = tiles(scene)
    for name, baseline in zip(about["names"], about["baselines"], strict=True):
        column = int(name[-5])
        assert found[name].mean(axis=(0, 1))[0] == pytest.approx(60 * column, abs=4)
        assert baseline[0] == column - int(about["names"][0][-5])


@pytest.mark.parametrize("given", [lambda view: view, lambda view: lambda: view], ids=["array", "function"])
@pytest.mark.parametrize(
    "stored",
    [
        lambda view: view,
        lambda view: (view * (4095 / 255)).astype(np.uint16),  # 12 of 16 bits
        lambda view: (view * (4095 / 255)).astype(np.int32),
        lambda view: view / 255,
        lambda view: view * 3.0,
    ],
    ids=["uint8", "uint16", "int32", "float", "large float"],
)
def test_colours_of_every_type_look_alike(given, stored):
    white, red, green = (stored(flat(colour)) for colour in ((255, 255, 255), RED, GREEN))
    scene = Scene(red, [given(green), given(white)], [(1, 0), (2, 0)])
    found, about = tiles(scene)
    assert about["colour"]
    for tile, colour in zip(found.values(), (RED, GREEN, (255, 255, 255)), strict=True):
        assert tile.mean(axis=(0, 1)) == pytest.approx(colour, abs=4)


def test_grey_views_make_a_grey_sheet():
    dark, light = (np.full((24, 32), grey) for grey in (0.25, 0.75))
    found, about = tiles(Scene(dark, [light], [(1, 0)]))
    assert not about["colour"]
    assert found["reference"].mean() == pytest.approx(0.25 * 255, abs=1)
    assert found["target 0"].mean() == pytest.approx(0.75 * 255, abs=1)


def test_views_are_read_only_once():
    reads = []

    def read(k):
        reads.append(k)
        return flat((60 * k, 90, 20))

    scene = Scene(flat(RED), [lambda k=k: read(k) for k in range(4)], [(1 + k, 0) for k in range(4)])
    found, about = tiles(scene)
    assert about["colour"]
    assert sorted(reads) == [0, 1, 2, 3]
    assert [round(found[f"target {k}"][..., 0].mean() / 60) for k in range(4)] == [0, 1, 2, 3]


def test_frames_of_a_video_are_in_colour_even_if_their_files_are_gone(tmp_path):
    for view in ("0_0", "0_1"):
        (tmp_path / view).mkdir()
        for frame in range(2):
            (tmp_path / view / f"{frame}.png").write_bytes(png.encode(flat(RED)))
    scene = open_frames(tmp_path)[1]
    for file in tmp_path.rglob("*.png"):
        file.unlink()
    found, about = tiles(scene)
    assert about["colour"]
    for tile in found.values():
        assert tile.mean(axis=(0, 1)) == pytest.approx(RED, abs=4)


def test_tiles_are_few_and_small_for_any_number_of_views():
    large = np.zeros((600, 1100, 3), np.uint16)
    places = [(x, y) for x in range(-3, 4) for y in range(-3, 4) if (x, y) != (0, 0)]
    found, about = tiles(Scene(large, [lambda: large] * len(places), places))
    assert len(found) == 25
    assert (about["width"], about["height"]) == (512, 279)


def test_a_selection_of_many_views_is_spread_evenly():
    grid = np.array([(x, y) for x in range(-4, 5) for y in range(-4, 5) if (x, y) != (0, 0)], float)
    chosen = spread(grid, 24)
    assert len(set(chosen)) == 24
    shown = {tuple(grid[k]) for k in chosen}
    assert {(4, 4), (-4, 4), (4, -4), (-4, -4), (4, 0), (0, 4), (-4, 0), (0, -4)} <= shown
    gaps = [min(np.hypot(*(np.array(a) - b)) for b in shown - {a}) for a in shown]
    assert max(gaps) <= 2 * min(gaps)  # they are spread evenly
    assert spread(grid[:24], 24) == list(range(24))


def test_large_views_are_shrunk_and_strips_are_not_lost():
    large = np.tile(np.linspace(0, 1, 1100, dtype=np.float32), (700, 1))
    found, about = tiles(Scene(large, [large], [(1, 0)]))
    assert (about["width"], about["height"]) == (512, 326)
    assert found["reference"][:, 256].mean() == pytest.approx(127.5, abs=2)
    strip = np.ones((1, 2000), np.float32)
    assert tiles(Scene(strip, [strip], [(1, 0)]))[1]["height"] == 1


def test_a_result_has_its_views_and_truth(tmp_path):
    scene = synth.render("planes", size=(32, 40))
    estimate(scene, Options("gcm", solves=2)).save(tmp_path)
    about = json.loads((tmp_path / "result.json").read_text())["views"]
    sheet = Image.open(tmp_path / about["file"])
    assert sheet.size == (40 * about["columns"], 32 * -(-len(about["names"]) // about["columns"]))
    from gradcon.io.pfm import read_pfm

    np.testing.assert_array_equal(read_pfm(tmp_path / "truth.pfm"), scene.ground_truth)
    scene.ground_truth = None
    estimate(scene, Options("gcm", solves=2)).save(tmp_path)
    assert not (tmp_path / "truth.pfm").exists()
