"""The files that a result writes."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from gradcon import Scene
from gradcon.errors import InputError
from gradcon.files import to_json
from gradcon.identity import versions
from gradcon.io.images import read_image
from gradcon.io.pfm import read_pfm
from gradcon.pictures.maps import disparity_picture
from gradcon.result import Result, Solve
from gradcon.result.folder import save_result
from gradcon.result.stopped import Stopped, StopReason

pytestmark = pytest.mark.filterwarnings("error")
FILES = ["disparity.pfm", "disparity.png", "result.json", "uncertainty.pfm", "views.jpg"]


def result(shape=(20, 30), name="a scene"):
    disparity = np.linspace(-1, 2, shape[0] * shape[1], dtype=np.float32).reshape(shape)
    row = Solve(1, 0, (2, 1, 0), 17, 0.5, 1.0, 0.25, 12, 0.03, float("nan"))
    return Result(
        disparity=disparity,
        uncertainty=np.full(shape, 0.125, np.float32),
        history=[row],
        stopped=Stopped.because(StopReason.CALLBACK, solves=1),
        parameters={"alpha": np.float32(0.5), "scales": np.arange(3), "views": ("all", 17), "path": FILES},
        source={"name": name, "reference": "input_Cam040.png"},
        engine="reference",
        engine_note="no GPU: it is asleep",
        seconds={"total": float("inf")},
        metrics={"rmse": float("inf")},
        warnings=["Look at \u03b1."],
        scene=Scene(np.zeros(shape), [np.ones(shape)], [(1, 0)]),
    )


def test_save(tmp_path):
    saved = result()
    folder = saved.save(tmp_path / "new" / "out")
    assert sorted(path.name for path in folder.iterdir()) == FILES
    np.testing.assert_array_equal(read_pfm(folder / "disparity.pfm"), saved.disparity)
    np.testing.assert_array_equal(read_pfm(folder / "uncertainty.pfm"), saved.uncertainty)
    assert read_image(folder / "disparity.png").ndim == 3

    def refuse(constant):
        raise AssertionError(constant)

    story = json.loads((folder / "result.json").read_text("utf-8"), parse_constant=refuse)
    assert story["format"] == "gradcon-result-2"
    assert story["seconds"] == {"total": None}
    assert story["metrics"] == {"rmse": None}
    assert story["history"][0]["scales"] == [2, 1, 0]
    assert story["history"][0]["rmse"] is None
    assert story["parameters"] == {"alpha": 0.5, "scales": [0, 1, 2], "views": ["all", 17], "path": FILES}
    assert story["versions"]["numpy"] == np.__version__
    assert story["disparity"]["unit"] == "pixels per unit baseline"
    assert story["warnings"] == ["Look at \u03b1."]


def test_an_interruption_leaves_nothing(tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("gradcon.result.folder.disparity_picture", stop)
    with pytest.raises(KeyboardInterrupt):
        save_result(result(), tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_an_output_folder_that_cannot_be_created(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file: cannot create this folder"):
        save_result(result(), tmp_path / "file")


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (300, 200)])
@pytest.mark.parametrize("fill", [None, np.nan, 3.0, 1e30])
def test_pictures_of_odd_maps(tmp_path, shape, fill):
    disparity = result(shape).disparity if fill is None else np.full(shape, fill, np.float32)
    (tmp_path / "a.png").write_bytes(disparity_picture(disparity, "$x_ \u6f22 \\frac{"))
    assert min(read_image(tmp_path / "a.png").shape[:2]) > 100


def test_json_is_strict_and_plain():
    value = {"a": (np.nan, np.inf, -np.inf), 1: np.bool_(True), "p": object, "n": None, "i": np.int64(3)}
    back = json.loads(to_json(value))
    assert back == {"a": [None] * 3, "1": True, "p": str(object), "n": None, "i": 3}


def test_versions_and_light_imports():
    assert {"gradcon", "python", "numpy", "scipy", "numba"} == set(versions())
    code = (
        "import sys, gradcon, gradcon.io, gradcon.identity; gradcon.identity.versions();"
        "print([m for m in ('numba', 'scipy', 'matplotlib', 'PIL', 'tifffile') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
