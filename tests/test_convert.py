"""`gradcon convert`: what it writes, what it refuses to lose, and what it prints."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import tifffile

from gradcon import Options, cli, estimate, synth
from gradcon.extras import install_extra
from gradcon.io.maps import read_map, read_maps
from gradcon.io.pfm import read_pfm, write_pfm
from gradcon.scene.units import DISPARITY_SIGN, DISPARITY_UNIT

pytest.importorskip("OpenEXR")
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result as `gradcon estimate` writes it."""
    scene = synth.render("planes", size=(24, 30), views=5)
    result = estimate(scene, Options("gcm", solves=1), engine="reference", check_directions=False)
    return result.save(tmp_path_factory.mktemp("results") / "out")


@pytest.fixture
def result(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "out"))


def convert(*arguments: object) -> int:
    return cli.main(["convert", *map(str, arguments)])


def refused(capsys: Capture, *arguments: object) -> str:
    """The one sentence that a refused conversion prints."""
    target = Path(str(arguments[1]))
    before = target.read_bytes() if target.is_file() else None
    assert convert(*arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert (target.read_bytes() if target.is_file() else None) == before
    return printed.err.removeprefix("gradcon: ")


@pytest.mark.parametrize("suffix", [".tif", ".tiff", ".exr", ".npz", ".TIF"])
def test_one_map_of_a_result_into_a_float_format(result: Path, tmp_path: Path, suffix: str, capsys: Capture) -> None:
    target = tmp_path / "new" / f"map{suffix}"
    assert convert(result, target, "--quantity", "disparity") == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.count("\n") == 1
    values = read_pfm(result / "disparity.pfm")
    span = f"disparity of 30 x 24, {values.min():.6g} to {values.max():.6g} {DISPARITY_UNIT} -> {target} ("
    assert span in printed.out
    map_ = read_map(target)
    source = json.loads((result / "result.json").read_text())["source"]
    assert np.array_equal(map_.values, values)
    assert (map_.quantity, map_.unit, map_.sign) == ("disparity", DISPARITY_UNIT, DISPARITY_SIGN)
    assert (map_.reference, map_.scene) == (source["reference"], source["name"])


def test_a_pfm_of_a_result_knows_what_it_is_and_a_copy_does_not(result: Path, tmp_path: Path, capsys: Capture) -> None:
    assert read_map(result / "uncertainty.pfm").unit == DISPARITY_UNIT
    shutil.copy(result / "disparity.pfm", tmp_path / "alone.pfm")
    assert convert(tmp_path / "alone.pfm", tmp_path / "alone.tif") == 0
    assert "(unit unknown)" in capsys.readouterr().out
    assert read_map(tmp_path / "alone.tif").texts() == {}


def test_all_maps_of_a_result_go_into_npz_and_out_again(result: Path, tmp_path: Path) -> None:
    target = tmp_path / "all.npz"
    assert convert(result, target) == 0
    names = [map_.quantity for map_ in read_maps(result)]
    assert {"disparity", "uncertainty"} <= set(names)
    with np.load(target) as file:
        assert set(file) == {*names, *(f"{name}_about" for name in names)}
        for name in names:
            np.testing.assert_array_equal(file[name], read_pfm(result / f"{name}.pfm"))
    assert convert(target, tmp_path / "c.exr", "--quantity", "uncertainty") == 0
    assert np.array_equal(read_map(tmp_path / "c.exr").values, read_pfm(result / "uncertainty.pfm"))


def test_what_a_single_map_leaves_out_is_refused(result: Path, tmp_path: Path, capsys: Capture) -> None:
    target = tmp_path / "map.tif"
    others = " and ".join(str(map_.quantity) for map_ in read_maps(result)[1:])
    lost = f"{target}: holds the disparity alone, without {others}"
    assert refused(capsys, result, target).startswith(f"{lost}; choose one map by --quantity, or pass --force")
    assert convert(result, target, "--force") == 0
    assert capsys.readouterr().err == f"{lost}\n"
    assert tifffile.imread(target).shape == (24, 30)


def test_pfm_and_png_say_what_they_lose(result: Path, tmp_path: Path, capsys: Capture) -> None:
    arguments = ("--quantity", "disparity")
    pfm, png = tmp_path / "map.pfm", tmp_path / "map.png"
    lost = "cannot carry quantity, unit, sign, reference, scene"
    assert lost in refused(capsys, result, pfm, *arguments)
    assert convert(result, pfm, *arguments, "--force") == 0
    assert capsys.readouterr().err == f"{pfm}: {lost}\n"
    assert pfm.read_bytes() == (result / "disparity.pfm").read_bytes()

    values = read_pfm(result / "disparity.pfm")
    step = float(values.max() - values.min()) / 65534
    assert f"values to steps of {step:.3g} {DISPARITY_UNIT}, by up to" in refused(capsys, result, png, *arguments)
    assert convert(result, png, *arguments, "--force") == 0
    assert "to steps of" in capsys.readouterr().err
    assert np.abs(read_map(png).values - values).max() <= 0.51 * step


def test_values_from_a_png_are_converted_without_force(result: Path, tmp_path: Path, capsys: Capture) -> None:
    first = tmp_path / "first.png"
    assert convert(result, first, "--quantity", "disparity", "--force") == 0
    previous = first
    for name in ("a.tif", "b.exr", "c.npz", "last.png"):
        assert convert(previous, tmp_path / name) == 0
        previous = tmp_path / name
    assert (tmp_path / "last.png").read_bytes() == first.read_bytes()
    capsys.readouterr()
    assert "scale and offset of a PNG" in refused(capsys, first, tmp_path / "map.pfm")


def test_whole_numbers_need_no_force(tmp_path: Path) -> None:
    write_pfm(tmp_path / "whole.pfm", np.arange(12.0).reshape(3, 4))
    assert convert(tmp_path / "whole.pfm", tmp_path / "whole.png") == 0
    assert read_map(tmp_path / "whole.png").values.tolist() == np.arange(12.0).reshape(3, 4).tolist()


def test_an_existing_file_is_replaced(tmp_path: Path) -> None:
    write_pfm(tmp_path / "map.pfm", np.ones((2, 2)))
    (tmp_path / "map.tif").write_bytes(b"old")
    assert convert(tmp_path / "map.pfm", tmp_path / "map.tif") == 0
    assert tifffile.imread(tmp_path / "map.tif").tolist() == [[1, 1], [1, 1]]


def test_the_source_is_never_overwritten(result: Path, tmp_path: Path, capsys: Capture) -> None:
    write_pfm(tmp_path / "map.pfm", np.ones((2, 2)))
    (tmp_path / "link.pfm").symlink_to("map.pfm")
    for source, target in (
        (tmp_path / "map.pfm", tmp_path / "map.pfm"),
        (tmp_path / "map.pfm", tmp_path / "link.pfm"),
    ):
        assert "is the file to be converted" in refused(capsys, source, target, "--force")


def test_a_file_of_a_result_is_never_replaced(result: Path, tmp_path: Path, capsys: Capture) -> None:
    """Neither another map of the result nor one from elsewhere may take the name of one of its files."""
    write_pfm(tmp_path / "whole.pfm", np.arange(720.0).reshape(24, 30))
    (result / "depth.pfm").unlink()
    (result / "uncertainty.pfm").rename(tmp_path / "stored.pfm")
    (result / "uncertainty.pfm").symlink_to(tmp_path / "stored.pfm")
    (tmp_path / "alias").symlink_to(result)
    for source, target in (
        (result, result / "disparity.pfm"),
        (result, result / "disparity.png"),
        (result, tmp_path / "alias" / "depth.png"),
        (result / "uncertainty.pfm", result / "disparity.pfm"),
        (tmp_path / "whole.pfm", result / "uncertainty.pfm"),
        (tmp_path / "whole.pfm", result / "depth.pfm"),
        (tmp_path / "whole.pfm", result / "depth.png"),
        (tmp_path / "whole.pfm", tmp_path / "alias" / "disparity.pfm"),
    ):
        said = refused(capsys, source, target, "--force")
        assert said == (
            f"{target}: is the name of a file of the result in that folder, which result.json describes; "
            "give another name.\n"
        )
    assert convert(tmp_path / "whole.pfm", result / "mine.pfm") == 0  # beside them is allowed
    assert convert(tmp_path / "whole.pfm", tmp_path / "depth.pfm") == 0  # and so is the name elsewhere


def test_a_missing_library_is_named(
    result: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "some.exr").write_bytes(b"x")
    monkeypatch.setitem(sys.modules, "OpenEXR", None)
    for source, target in ((result / "disparity.pfm", "map.exr"), (tmp_path / "some.exr", "map.tif")):
        assert install_extra("exr") in refused(capsys, source, tmp_path / target)


def test_mistakes_are_one_sentence(result: Path, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "empty").mkdir()
    broken = Path(shutil.copytree(result, tmp_path / "broken"))
    (broken / "result.json").write_text("{")
    other = Path(shutil.copytree(result, tmp_path / "other"))
    write_pfm(other / "disparity.pfm", np.ones((3, 3)))
    for source, target, quantity, says in (
        (result, "map.jpg", None, "use one of .pfm, .tif, .tiff, .png, .npz, .exr"),
        (result, "map", None, "its suffix '' is not that of a map format"),
        (result, "map.tif", "colour", "use one of disparity, uncertainty, depth"),
        (tmp_path / "nothing.pfm", "map.tif", None, "there is no such file"),
        (tmp_path / "nothing", "map.tif", None, "there is no such file"),
        (tmp_path / "empty", "map.tif", None, "holds no result.json"),
        (broken, "map.npz", None, "is not valid JSON"),
        (other, "map.npz", None, "is 3 x 3 pixels, but result.json beside it says 30 x 24"),
        (result / "disparity.png", "map.tif", None, "is a picture, not a map"),
        (result / "disparity.pfm", "map.tif", "depth", "holds no depth, only disparity"),
    ):
        more = ("--quantity", quantity) if quantity else ()
        assert says in refused(capsys, source, tmp_path / target, *more)
