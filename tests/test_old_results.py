"""Files of version 0.1, which called the uncertainty "confidence": they are read under the present name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile

from gradcon import Options, cli, estimate, synth
from gradcon.errors import InputError
from gradcon.io.images import png
from gradcon.io.maps import read_map, read_maps, write_map
from gradcon.io.pfm import write_pfm
from gradcon.report.folder import read_folder

UNIT = "pixels per unit baseline"
DISPARITY = np.linspace(-1, 2, 24, dtype=np.float32).reshape(4, 6)
DEVIATION = np.linspace(0.01, 0.5, 24, dtype=np.float32).reshape(4, 6)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A folder as `gradcon estimate` and `gradcon evaluate --confidence` of version 0.1 left it."""
    folder = tmp_path / "old"
    folder.mkdir()
    write_pfm(folder / "disparity.pfm", DISPARITY)
    write_pfm(folder / "confidence.pfm", DEVIATION)
    (folder / "confidence.png").write_bytes(png.encode(np.zeros((4, 6, 3), np.uint8)))
    summary = {
        "format": "gradcon-result-1",
        "source": {"name": "planes", "reference": "view 4", "width": 6, "height": 4, "targets": [], "baselines": []},
        "disparity": {"unit": UNIT, "sign": "positive is nearer", "reference": "view 4", "min": -1.0, "max": 2.0},
        "confidence": {"meaning": "predicted standard deviation of the disparity", "unit": UNIT},
        "history": [{"solve": 1, "step_mean": 0.5}],
    }
    (folder / "result.json").write_text(json.dumps(summary))
    return folder


def test_maps_of_an_old_folder(old: Path) -> None:
    assert [map_.quantity for map_ in read_maps(old)] == ["disparity", "uncertainty"]
    for map_ in (read_map(old, "uncertainty"), read_map(old, "confidence"), read_map(old / "confidence.pfm")):
        assert (map_.quantity, map_.unit, map_.reference, map_.scene) == ("uncertainty", UNIT, "view 4", "planes")
        np.testing.assert_array_equal(map_.values, DEVIATION)


def test_damage_in_an_old_folder_is_named_by_its_own_file(old: Path) -> None:
    content = (old / "confidence.pfm").read_bytes()
    (old / "confidence.pfm").write_bytes(content[:-1])
    with pytest.raises(InputError, match="is truncated") as caught:
        read_map(old, "uncertainty")
    assert caught.value.where == str(old / "confidence.pfm")


def test_report_and_conversion_of_an_old_folder(old: Path, tmp_path: Path) -> None:
    page = read_folder(old)
    assert page.uncertainty is not None
    np.testing.assert_array_equal(page.uncertainty, DEVIATION)
    assert cli.main(["convert", str(old), str(tmp_path / "all.npz")]) == 0
    with np.load(tmp_path / "all.npz") as file:
        assert set(file) == {"disparity", "disparity_about", "uncertainty", "uncertainty_about"}


def test_a_new_result_removes_the_old_names(old: Path) -> None:
    scene = synth.render("planes", size=(24, 30), views=5)
    result = estimate(scene, Options("gcm", solves=1), engine="reference", check_directions=False)
    result.save(old)
    assert not list(old.glob("confidence*"))
    np.testing.assert_array_equal(read_map(old, "uncertainty").values, result.uncertainty)
    summary = json.loads((old / "result.json").read_text())
    assert summary["format"] == "gradcon-result-2"
    assert "confidence" not in summary


@pytest.mark.parametrize("version", ["gradcon-result-0", "gradcon-result-3", "gradcon-result-", None, ["x"], 2])
def test_other_formats_are_refused(old: Path, version: Any) -> None:
    summary = json.loads((old / "result.json").read_text())
    (old / "result.json").write_text(json.dumps(summary | {"format": version}))
    with pytest.raises(InputError, match="not gradcon-result-1 or gradcon-result-2; estimate") as caught:
        read_maps(old)
    assert caught.value.where == str(old / "result.json")


DESCRIPTION = {"format": "gradcon-map-1", "quantity": "confidence", "unit": UNIT}


def old_tiff(path: Path) -> None:
    tifffile.imwrite(path, DEVIATION, description=json.dumps(DESCRIPTION), metadata=None)


def old_npz(path: Path) -> None:
    np.savez(path, confidence=DEVIATION, confidence_about=np.array(json.dumps(DESCRIPTION)))


def old_png(path: Path) -> None:
    texts = {"scale": "0.5", "offset": "0.0", "quantity": "confidence", "unit": UNIT}
    greys = np.arange(24, dtype=np.uint16).reshape(4, 6)
    path.write_bytes(png.encode(greys, {f"gradcon:{name}": text for name, text in texts.items()}))


def old_exr(path: Path, described: bool = True) -> None:
    exr = pytest.importorskip("OpenEXR")
    texts = {"gradcon.quantity": "confidence", "gradcon.unit": UNIT} if described else {}
    with exr.File({"type": exr.scanlineimage, **texts}, {"confidence.V": DEVIATION}) as file:
        file.write(str(path))


@pytest.mark.parametrize(
    ("suffix", "write"), [(".tif", old_tiff), (".npz", old_npz), (".png", old_png), (".exr", old_exr)]
)
def test_old_map_files(tmp_path: Path, suffix: str, write: Any) -> None:
    path = tmp_path / f"map{suffix}"
    write(path)
    map_ = read_map(path)
    assert (map_.quantity, map_.unit) == ("uncertainty", UNIT)
    write_map(tmp_path / f"new{suffix}", map_)
    assert b"confidence" not in (tmp_path / f"new{suffix}").read_bytes()
    assert read_map(tmp_path / f"new{suffix}", "uncertainty").texts() == map_.texts()


def test_an_exr_channel_of_the_old_name(tmp_path: Path) -> None:
    old_exr(tmp_path / "map.exr", described=False)
    assert read_map(tmp_path / "map.exr").quantity == "uncertainty"


def test_one_map_under_both_names_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "map.npz", confidence=DEVIATION, uncertainty=DEVIATION)
    with pytest.raises(InputError, match="holds the uncertainty twice"):
        read_map(tmp_path / "map.npz")
