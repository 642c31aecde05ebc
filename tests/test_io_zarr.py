"""Light fields in Zarr stores: which parts are read, how much memory that takes, and what is refused."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradcon import npz, open_scene
from gradcon.errors import InputError
from gradcon.extras import install_extra
from gradcon.io.formats.format import Hints
from gradcon.io.formats.lightfield_array import save_lightfield
from gradcon.io.formats.registry import list_scene

zarr = pytest.importorskip("zarr")

PARAMETERS = {"focal_length_mm": 50, "sensor_size_mm": 36, "baseline_mm": 18, "focus_distance_m": 2.15}


def some_views(shape: tuple[int, ...] = (3, 5, 8, 12, 3), seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(1, 256, shape, dtype=np.uint8)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("zipped", [False, True])
def test_views_of_both_formats_in_folders_and_archives(tmp_path: Path, zarr_format: int, zipped: bool) -> None:
    views = some_views()
    path = tmp_path / ("lf.zip" if zipped else "lf.zarr")
    store = zarr.storage.ZipStore(path, mode="w") if zipped else zarr.storage.LocalStore(path)
    array = zarr.create_array(store, shape=views.shape, dtype="uint8", chunks=(1, 1, 8, 12, 3), zarr_format=zarr_format)
    array[...] = views
    store.close()
    scene = open_scene(path)
    np.testing.assert_array_equal(scene.colour, views[1, 2])
    assert scene.reference_name == "view (1, 2)"
    k = scene.target_names.index("view (0, 4)")
    assert scene.baselines[k].tolist() == [-2, 1]  # two steps to the right and one up
    with pytest.raises(InputError, match=r"size_factor .--size-factor. means nothing here"):
        open_scene(path, size_factor=3)


def test_an_archive_of_too_many_parts_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = zarr.storage.ZipStore(tmp_path / "lf.zip", mode="w")
    zarr.create_array(store, shape=(3, 5, 8, 12, 3), dtype="uint8", chunks=(1, 1, 8, 12, 3))[...] = some_views()
    store.close()
    monkeypatch.setattr(npz, "MAX_DIRECTORY", 500)  # the names of 16 parts take more
    with pytest.raises(InputError, match=r"lf\.zip: its list of members takes more than the 500 bytes"):
        open_scene(tmp_path / "lf.zip")


def test_group_states_reference_name_truth_baselines_and_calibration(tmp_path: Path) -> None:
    views, truth = some_views((4, 8, 12)), np.linspace(-1, 1, 96, dtype=np.float32).reshape(8, 12)
    attributes: dict[str, Any] = {"name": "four", "reference": 2, **PARAMETERS}
    group = zarr.create_group(tmp_path / "lf.zarr", attributes=attributes)
    group.create_array("views", data=views, chunks=(1, 8, 12))
    group.create_array("ground_truth", data=truth)
    group.create_array("baselines", data=np.array([[0, 0], [-1, 0], [0.5, 2], [3, 3]]))
    scene = open_scene(tmp_path / "lf.zarr")
    assert (scene.name, scene.reference_name) == ("four", "view 2")
    np.testing.assert_array_equal(scene.ground_truth, truth)
    assert scene.baselines[scene.target_names.index("view 1")].tolist() == [-1.5, -2]
    assert scene.calibration is not None
    offset = scene.calibration.offset  # the camera is half a step left of and two above the one at (0, 0)
    assert scene.calibration.K[:2, 2] == pytest.approx([5.5 - 0.5 * offset, 3.5 - 2 * offset])
    other = open_scene(tmp_path / "lf.zarr", reference="view 0")
    assert other.ground_truth is None
    del group.attrs["reference"]
    assert open_scene(tmp_path / "lf.zarr").reference_name == "view 0"  # the one at (0, 0)


def test_save_reads_back(tmp_path: Path) -> None:
    views, truth = some_views(), np.ones((8, 12), np.float32)
    path = save_lightfield(
        tmp_path / "new" / "lf.zarr",
        views,
        ground_truth=truth,
        reference=(0, 1),
        parameters={**PARAMETERS, "scene": "saved"},
    )
    scene = open_scene(path, views="cross")
    assert (scene.name, scene.reference_name, len(scene.targets)) == ("saved", "view (0, 1)", 6)
    np.testing.assert_array_equal(scene.ground_truth, truth)
    assert [child.name for child in path.parent.iterdir()] == ["lf.zarr"]
    with pytest.raises(InputError, match="exists already"):
        save_lightfield(path, views)


def test_a_failed_save_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.rename", full)
    with pytest.raises(InputError, match=r"lf\.zarr: cannot be written"):
        save_lightfield(tmp_path / "lf.zarr", some_views())
    assert list(tmp_path.iterdir()) == []


MEASURE = """
import re, sys
import numpy, zarr, numcodecs, PIL.Image, gradcon, gradcon.scene.reading


def megabytes(field):  # not getrusage, whose peak includes that of the parent process
    return int(re.search(field + r":\\s*(\\d+) kB", open("/proc/self/status").read())[1]) * 1.024e-3


gradcon.scene.reading.READERS = 2  # the bound holds for this many views at a time
zarr.create_array({}, shape=(4,), dtype="uint8")[...]  # its threads
gradcon.open_scene, gradcon.Scene  # names are imported on first use, and imports must not count
held, peak = megabytes("VmRSS"), megabytes("VmHWM")
scene = gradcon.open_scene(sys.argv[1], views=sys.argv[2])
print(len(scene.colours), megabytes("VmHWM") - peak, megabytes("VmHWM") - held)
"""


@pytest.fixture(scope="module")
def large_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """81 colour views of 1000 x 1000 pixels; those outside the centre row and column are garbage."""
    path = tmp_path_factory.mktemp("large") / "lf.zarr"
    ramp = np.arange(1000, dtype=np.uint16)
    view = ((ramp[:, None] * 3 + ramp) % 251).astype(np.uint8)[..., None] + np.arange(3, dtype=np.uint8)
    array = zarr.create_array(path, shape=(9, 9, *view.shape), dtype="uint8", chunks=(1, 1, *view.shape))
    array[4, 4] = view
    chunk = (path / "c/4/4/0/0/0").read_bytes()
    assert len(chunk) < 1e6
    for v, u in np.ndindex(9, 9):
        file = path / f"c/{v}/{u}/0/0/0"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(chunk if 4 in (v, u) else b"no chunk")
    return path


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc to measure memory")
@pytest.mark.parametrize(("which", "count"), [("cross", 17), ("all", 81)])
def test_only_the_chosen_views_are_read_and_only_their_colours_are_kept(
    large_store: Path, which: str, count: int
) -> None:
    if which == "all":
        with pytest.raises(InputError, match=r"lf.zarr: view \(\d, \d\) cannot be read"):
            open_scene(large_store)
        chunk = (large_store / "c/4/4/0/0/0").read_bytes()
        for v, u in np.ndindex(9, 9):
            (large_store / f"c/{v}/{u}/0/0/0").write_bytes(chunk)
    command = [sys.executable, "-c", MEASURE, str(large_store), which]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    views, over_peak, over_held = (float(word) for word in out.split())
    print(which, f"{over_peak:.0f} MB over the imports' peak, {over_held:.0f} over what they hold")
    assert views == count
    assert over_held < count * 3 + 75


def broken(path: Path, **metadata: Any) -> Path:
    """A store of format 2 with other metadata."""
    array = zarr.create_array(path, shape=(3, 3, 8, 12), dtype="uint8", chunks=(1, 1, 8, 12), zarr_format=2)
    array[...] = some_views((3, 3, 8, 12))
    told = json.loads((path / ".zarray").read_text())
    (path / ".zarray").write_text(json.dumps({**told, **metadata}))
    return path


@pytest.mark.parametrize(
    ("metadata", "says"),
    [
        ({"filters": [{"id": "pickle", "protocol": 5}]}, "pickle"),
        ({"filters": [{"id": "base64"}]}, "encoded by 'base64', which is not supported"),
        ({"dtype": "|O", "filters": [{"id": "pickle", "protocol": 5}]}, "lf.zarr: "),
        ({"shape": [3, 3, 10**7, 10**7]}, r"takes 91\.0 TB of memory, but at most"),
        ({"shape": [200, 200, 8, 12]}, "which is more than 16,384 views"),
        ({"shape": [3, 3, 8, 12, 7]}, "lf.zarr: "),
        ({"shape": [9, 12], "chunks": [9, 12]}, "not a light field"),
        ({"dtype": "<c8", "fill_value": None}, "type complex64"),
        ({"chunks": [3, 3, 10**6, 10**6]}, "claims chunks"),
        ({"compressor": {"id": "nobody-knows"}}, "lf.zarr: "),
        ({"zarr_format": 9}, "lf.zarr: "),
    ],
)
def test_metadata_that_cannot_be_used(tmp_path: Path, metadata: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        open_scene(broken(tmp_path / "lf.zarr", **metadata))
    assert str(caught.value).startswith(str(tmp_path / "lf.zarr"))
    assert "\n" not in str(caught.value)


def test_damaged_and_missing_chunks(tmp_path: Path) -> None:
    path = broken(tmp_path / "lf.zarr")
    (path / "0.0.0.0").write_bytes(b"nonsense")
    assert len(open_scene(path, views="cross").targets) == 4
    with pytest.raises(InputError, match=r"view \(0, 0\) cannot be read"):
        open_scene(path)
    (path / "0.0.0.0").unlink()
    with pytest.raises(InputError, match=r"view \(0, 0\): all its pixels are 0"):
        open_scene(path)


def test_a_store_stays_in_its_folder_or_archive(tmp_path: Path) -> None:
    path = broken(tmp_path / "lf.zarr")
    (path / "0.0.0.0").rename(tmp_path / "elsewhere")
    (path / "0.0.0.0").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"0\.0\.0\.0 is a link that leaves the store"):
        list_scene(path, Hints())
    for name in ("../up", "/root", "a\\..\\..\\b"):
        archive = tmp_path / "lf.zip"
        with zipfile.ZipFile(archive, "w") as made:
            made.writestr(".zarray", "{}")
            made.writestr(name, "x")
        with pytest.raises(InputError, match="leaves the archive"):
            open_scene(archive)
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("lf.zarr/.zarray", "{}")
    with pytest.raises(InputError, match="at its top"):
        open_scene(archive)
    archive.write_bytes(archive.read_bytes()[:60])
    with pytest.raises(InputError, match=r"lf\.zip: cannot be read"):
        open_scene(archive)


def test_groups_that_lack_something(tmp_path: Path) -> None:
    group = zarr.create_group(tmp_path / "lf.zarr", attributes={"focal_length_mm": 50})
    group.create_array("pictures", data=some_views())
    group.create_array("others", data=some_views())
    with pytest.raises(InputError, match="no array `views`, but others, pictures"):
        open_scene(tmp_path / "lf.zarr")
    group.create_array("views", data=some_views())
    with pytest.raises(InputError, match="'sensor_size_mm' is missing"):
        open_scene(tmp_path / "lf.zarr")
    group.attrs["focal_length_mm"] = None
    group.attrs["reference"] = [3, 0]
    with pytest.raises(InputError, match=r"reference \[3, 0\] is not one of its views"):
        open_scene(tmp_path / "lf.zarr")


def test_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = broken(tmp_path / "lf.zarr")
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(InputError, match=re.escape(install_extra("zarr"))):
        open_scene(path)


def test_a_single_array_in_a_group_may_have_any_name(tmp_path: Path) -> None:
    zarr.create_group(tmp_path / "a.zarr").create_array("lf", data=some_views())
    zarr.create_array(tmp_path / "b.zarr", data=some_views())
    assert open_scene(tmp_path / "a.zarr").fingerprint() == open_scene(tmp_path / "b.zarr").fingerprint()
