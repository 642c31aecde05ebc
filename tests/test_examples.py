"""The examples, run as a reader would on small images: each draws its picture and prints what is true."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from conftest import CHECKOUT

pytestmark = pytest.mark.slow

EXAMPLES = sorted((CHECKOUT / "examples").glob("*.py"))
GALLERY = CHECKOUT / "docs" / "images" / "examples"


def run(name: str, folder: Path, size: int) -> str:
    """Run an example, check its picture, and return what it prints."""
    command = [sys.executable, CHECKOUT / "examples" / f"{name}.py", folder / "new", "--size", str(size)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    look_at(folder / "new" / f"{name}.png")
    return done.stdout


def look_at(path: Path) -> None:
    """Reject a picture that is small or almost blank."""
    pixels = np.asarray(Image.open(path).convert("RGB"))
    assert pixels.shape[0] >= 300
    assert pixels.shape[1] >= 800
    colours = np.unique(pixels.reshape(-1, 3) // 16, axis=0)
    assert len(colours) > 50, f"{path.name} has hardly any colour"
    assert np.mean((pixels < 250).any(axis=-1)) > 0.2, f"{path.name} is nearly white"


def numbers(pattern: str, text: str) -> dict[str, float]:
    return {name.strip(): float(value) for name, value in re.findall(pattern, text, re.MULTILINE)}


def test_own_light_field(tmp_path: Path) -> None:
    told = run("own_light_field", tmp_path, 80)
    assert "array (5, 5, 80, 80, 3)" in told
    far, near = map(float, re.findall(r"from (\S+) \(far\) to (\S+) px", told)[0])
    assert far < -0.15 < 0.1 < near  # the truth: -0.31 to 0.28


def test_calibrated_rig(tmp_path: Path) -> None:
    told = run("calibrated_rig", tmp_path, 80)
    assert 'unit = "m"' in told
    near, far, percent = map(float, re.findall(r"from (\S+) to (\S+) m; off by (\S+) %", told)[0])
    assert 1.5 < near < 2
    assert 3 < far < 4  # the truth: 1.64 to 3.45 m
    assert percent < 1


def test_compare_methods(tmp_path: Path) -> None:
    rmse = numbers(r"^(\S+) +RMSE (\S+) px", run("compare_methods", tmp_path, 80))
    assert set(rmse) == {"gcm", "coarse-to-fine", "progressive", "naive"}
    assert min(rmse, key=rmse.__getitem__) == "gcm"


def test_light_field_video(tmp_path: Path) -> None:
    told = run("light_field_video", tmp_path, 112)
    solves, last = numbers(r"^(.*?) +(\S+) solves a frame", told), numbers(r"^(.*?)  +\S+ solves a .*, (\S+) px", told)
    until_settled, from_0, chained = last
    assert solves[chained] == solves[from_0] == 3 < solves[until_settled]
    assert last[chained] < last[from_0]  # which starts from what the look finds
    assert last[chained] < 1.5 * last[until_settled]


def test_tune_alpha(tmp_path: Path) -> None:
    told = run("tune_alpha", tmp_path, 48)
    at_default = numbers(r"^(.*?) +RMSE .* (\S+) px at the default", told)
    untold, noise_told, clean = at_default.values()
    assert clean < noise_told < untold
    best = numbers(r"^(.*?) +RMSE (\S+) px at its best", told)
    assert all(best[name] <= at_default[name] for name in best)


def test_point_cloud(tmp_path: Path) -> None:
    plyfile = pytest.importorskip("plyfile", reason="plyfile reads the points back: install the extra `dev`")
    told = run("point_cloud", tmp_path, 80)
    count, near, far = map(int, re.findall(r"(\d+) points from (\d+) to (\d+) mm", told)[0])
    points = plyfile.PlyData.read(tmp_path / "new" / "point_cloud.ply")["vertex"]
    assert len(points) == count
    assert 0.5 * 80**2 < count <= 0.9 * 80**2
    assert near == round(float(points["z"].min()))
    assert far == round(float(points["z"].max()))
    assert 1400 < near < 2100
    assert 2900 < far < 3600  # the truth: 1.65 to 3.21 m


def test_the_gallery_shows_every_example() -> None:
    text = (CHECKOUT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert {path.stem for path in EXAMPLES} == {path.stem for path in GALLERY.glob("*.png")}
    for path in EXAMPLES:
        assert f"## {path.name}" in text
        assert f"(images/examples/{path.stem}.png)" in text


@pytest.mark.parametrize("path", sorted(GALLERY.glob("*.png")), ids=lambda path: path.stem)
def test_the_gallery_is_light(path: Path) -> None:
    look_at(path)
    assert path.stat().st_size < 200_000


def test_fused_mesh(tmp_path: Path) -> None:
    told = run("fused_mesh", tmp_path, 80)
    one, five, merged = map(int, re.findall(r"one view: (\d+) points; five: (\d+), and (\d+) pixels merged", told)[0])
    assert 1.02 * one < five < 1.5 * one
    assert merged > 3 * one
    assert (tmp_path / "new" / "fused_mesh.ply").is_file()
