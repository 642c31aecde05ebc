"""HDF5 files of the older HCI set: geometry, truth and calibration worked out by hand, and hostile files."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcon import Options, estimate, open_scene, synth
from gradcon.damage import LIMIT_VARIABLE
from gradcon.errors import InputError
from gradcon.extras import install_extra
from gradcon.io.formats.hdf5 import COLUMNS, SIGNATURE
from gradcon.io.formats.lightfield_array import save_lightfield
from gradcon.io.images import read_image

h5py = pytest.importorskip("h5py")

DH, FOCAL, SHIFT = 0.3, 40.0, 0.25


def some_views(shape: tuple[int, ...] = (3, 5, 8, 12, 3)) -> np.ndarray:
    return np.random.default_rng(0).integers(1, 256, shape, dtype=np.uint8)


def make(path: Path, views: Any = None, depth: Any = None, **attributes: Any) -> Path:
    with h5py.File(path, "w") as root:
        root["LF"] = some_views() if views is None else views
        if depth is not None:
            root["GT_DEPTH"] = depth
        told = {"dH": DH, "focalLength": FOCAL, "shift": SHIFT, **attributes}
        root.attrs.update({name: value for name, value in told.items() if value is not None})
    return path


def test_columns_are_counted_from_the_right_and_rows_downwards(tmp_path: Path) -> None:
    views = some_views()
    scene = open_scene(make(tmp_path / "lf.h5", views))
    np.testing.assert_array_equal(scene.colour, views[1, 2])
    k = scene.target_names.index("view (2, 4)")  # stands one step down and two to the left
    assert scene.baselines[k].tolist() == [2, -1]
    tall = open_scene(make(tmp_path / "tall.h5", dV=2 * DH))
    assert tall.baselines[tall.target_names.index("view (2, 4)")].tolist() == [2, -2]


def test_views_without_chunks_need_memory_for_those_that_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    views = some_views((9, 9, 96, 96, 3))
    path = make(tmp_path / "lf.h5", views)
    monkeypatch.setenv(LIMIT_VARIABLE, "1M")  # less than half of all views
    np.testing.assert_array_equal(open_scene(path, views="cross").colour, views[4, 4])
    with pytest.raises(InputError, match=r"the 81 views: takes .* at most 1\.0 MB are allowed"):
        open_scene(path)


def test_ground_truth_is_the_references_depth_as_disparity(tmp_path: Path) -> None:
    depth = np.random.default_rng(1).uniform(5, 20, (3, 5, 8, 12))
    depth[1, 2, 0, 0] = 0
    path = make(tmp_path / "lf.h5", depth=depth)
    disparity = DH * FOCAL / depth[1, 2, 1:] - SHIFT
    scene = open_scene(path)
    np.testing.assert_allclose(scene.ground_truth[1:], disparity, rtol=1e-6)
    assert np.isnan(scene.ground_truth[0, 0])
    other = open_scene(path, reference="view (0, 4)")
    np.testing.assert_allclose(other.ground_truth, DH * FOCAL / depth[0, 4] - SHIFT, rtol=1e-6)
    np.testing.assert_allclose(scene.calibration.depth(scene.ground_truth)[1:], depth[1, 2, 1:], rtol=1e-5)
    with h5py.File(path, "a") as root:
        mask = np.full((3, 5, 8, 12), 255, np.uint8)
        mask[:, :, 3] = 0
        root["GT_DEPTH_MASK"] = mask
    assert np.isnan(open_scene(path).ground_truth[3]).all()
    assert np.isfinite(open_scene(path).ground_truth[4]).all()


def test_depth_of_the_centre_alone(tmp_path: Path) -> None:
    path = make(tmp_path / "lf.h5", depth=np.full((8, 12), 10.0, np.float32))
    assert open_scene(path).ground_truth == pytest.approx(DH * FOCAL / 10 - SHIFT)
    assert open_scene(path, reference="1,3").ground_truth is None


def test_calibration_of_a_reference_off_centre(tmp_path: Path) -> None:
    path = make(tmp_path / "lf.h5", dV=[2 * DH], dH=np.array([DH]), shift="0.25", unit=b"m")
    calibration = open_scene(path, reference="0,1").calibration
    assert calibration is not None
    assert (calibration.product, calibration.offset, calibration.unit) == (DH * FOCAL, SHIFT, "m")
    # one step to the right (u falls), and one row up, which is two steps of dH
    assert calibration.K[:2, 2].tolist() == [5.5 + SHIFT, 3.5 - 2 * SHIFT]


@pytest.mark.parametrize("attributes", [{"dH": None}, {"shift": "none"}, {"focalLength": np.nan}, {"dH": [1.0, 2.0]}])
def test_views_open_without_usable_attributes(tmp_path: Path, attributes: dict[str, Any]) -> None:
    scene = open_scene(make(tmp_path / "lf.h5", depth=np.ones((8, 12)), **attributes))
    assert scene.calibration is None
    assert scene.ground_truth is None
    assert next(iter(attributes)) in scene.metadata["calibration"]


def test_saved_scene_is_estimated_as_its_hci_folder(tmp_path: Path) -> None:
    synth.write("occlusion", tmp_path / "hci", size=(48, 64), grid=3, views="all")
    folder = open_scene(tmp_path / "hci")
    images = [folder.colour.copy() for _ in range(9)]
    for k in range(9):
        images[k] = open_scene(tmp_path / "hci", reference=f"input_Cam{k:03d}.png").colour
    views = np.array(images).reshape(3, 3, 48, 64, 3)
    more: dict[str, Any] = {"ground_truth": folder.ground_truth, "parameters": folder.metadata}
    for suffix in ("h5", "npz", "zarr"):
        scene = open_scene(save_lightfield(tmp_path / f"lf.{suffix}", views, **more))
        assert scene.fingerprint() == folder.fingerprint()
        np.testing.assert_allclose(scene.ground_truth, folder.ground_truth, atol=1e-6)
        assert scene.calibration is not None
        assert scene.calibration.summary() == folder.calibration.summary()
    options = Options("gcm", solves=2)
    np.testing.assert_array_equal(estimate(scene, options).disparity, estimate(folder, options).disparity)


def test_what_cannot_be_saved_as_hdf5(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="stores ground truth as depth"):
        save_lightfield(tmp_path / "lf.h5", some_views(), ground_truth=np.ones((8, 12)))
    with pytest.raises(InputError, match="can only be the middle"):
        save_lightfield(tmp_path / "lf.h5", some_views(), reference=(0, 0))
    with pytest.raises(InputError, match="odd number of columns"):
        save_lightfield(tmp_path / "lf.h5", some_views((3, 4, 8, 12)))
    with pytest.raises(InputError, match=r"use one of \.npz, \.zarr, \.h5"):
        save_lightfield(tmp_path / "lf.tiff", some_views())
    assert list(tmp_path.iterdir()) == []


def test_values_outside_the_file_are_refused(tmp_path: Path) -> None:
    make(tmp_path / "other.h5")
    some_views().tofile(tmp_path / "raw")
    path = tmp_path / "lf.h5"

    def refused(**links: Any) -> None:
        with h5py.File(path, "w") as root:
            for name, link in links.items():
                root[name] = link
        with pytest.raises(InputError, match=r"its (dataset )?LF leaves the file"):
            open_scene(path)

    refused(LF=h5py.ExternalLink("other.h5", "/LF"))
    refused(LF=h5py.SoftLink("/away/LF"), away=h5py.ExternalLink("other.h5", "/"))
    with h5py.File(path, "w") as root:
        root.create_dataset("LF", (3, 5, 8, 12, 3), "uint8", external=[(str(tmp_path / "raw"), 0, 3 * 5 * 8 * 36)])
    with pytest.raises(InputError, match="dataset LF leaves the file"):
        open_scene(path)
    with h5py.File(path, "w") as root:
        layout = h5py.VirtualLayout((3, 5, 8, 12, 3), "uint8")
        layout[...] = h5py.VirtualSource(tmp_path / "other.h5", "LF", (3, 5, 8, 12, 3))
        root.create_virtual_dataset("LF", layout)
    with pytest.raises(InputError, match="dataset LF leaves the file"):
        open_scene(path)
    with h5py.File(path, "w") as root:
        root["LF"] = h5py.SoftLink("LF")
    with pytest.raises(InputError, match="without end"):
        open_scene(path)
    with h5py.File(path, "w") as root:
        root["data/views"] = some_views()
        root["LF"] = h5py.SoftLink("/data/views")
    assert len(open_scene(path).targets) == 14


def test_datasets_that_do_not_fit(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "labels.h5", "w") as root:
        root["GT_LABELS"] = np.zeros((3, 3))
    with pytest.raises(InputError, match="no dataset LF, but GT_LABELS"):
        open_scene(tmp_path / "labels.h5")
    for views in (some_views((5, 8, 12)), some_views((3, 5, 8, 12, 7)), np.ones((3, 3, 8, 12), complex)):
        with pytest.raises(InputError, match=r"lf\.h5, LF: |its dataset LF has the shape"):
            open_scene(make(tmp_path / "lf.h5", views))
    with pytest.raises(InputError, match="GT_DEPTH is float64 of the shape"):
        open_scene(make(tmp_path / "lf.h5", depth=np.ones((8, 11))))
    with h5py.File(tmp_path / "vast.h5", "w") as root:
        root.create_dataset("LF", (9, 9, 10**6, 10**6, 3), "uint8", chunks=(1, 1, 64, 64, 3))[0, 0, 0, 0] = 1
    with pytest.raises(InputError, match=r"takes 2\.8 TB of memory, but at most"):
        open_scene(tmp_path / "vast.h5")
    with h5py.File(tmp_path / "hollow.h5", "w") as root:
        root.create_dataset("LF", (3, 3, 64, 64, 3), "uint8", chunks=(1, 1, 64, 64, 3))[0, 0] = 1
    with pytest.raises(InputError, match="as if it were missing"):
        open_scene(tmp_path / "hollow.h5")


def test_a_damaged_view_matters_only_if_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "lf.h5"
    with h5py.File(path, "w") as root:
        data = root.create_dataset("LF", data=some_views(), chunks=(1, 1, 8, 12, 3), compression="gzip")
        chunk = data.id.get_chunk_info_by_coord((0, 0, 0, 0, 0))
    content = bytearray(path.read_bytes())
    content[chunk.byte_offset : chunk.byte_offset + chunk.size] = b"\xff" * chunk.size
    path.write_bytes(content)
    assert len(open_scene(path, views="cross").targets) == 6
    with pytest.raises(InputError, match=r"lf\.h5: view \(0, 0\) cannot be read"):
        open_scene(path)


@given(st.floats(0, 1))
def test_any_cut_file_is_refused(tmp_path_factory: pytest.TempPathFactory, share: float) -> None:
    path = make(tmp_path_factory.mktemp("cut") / "lf.h5")
    content = path.read_bytes()
    path.write_bytes(content[: len(SIGNATURE) + int(share * (len(content) - len(SIGNATURE) - 1))])
    with pytest.raises(InputError) as caught:
        open_scene(path)
    assert str(caught.value).startswith(str(path))


def test_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make(tmp_path / "lf.h5")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(InputError, match=re.escape(install_extra("hdf5"))):
        open_scene(path)


@pytest.mark.parametrize("name", ["LF", "GT_DEPTH", "GT_DEPTH_MASK"])
def test_datasets_without_values_are_refused(tmp_path: Path, name: str) -> None:
    views = {"LF": (3, 5, 8, 12, 3)}.get(name, (8, 12))
    for empty in ({"data": h5py.Empty("f4")}, {"shape": views, "dtype": "f4"}):
        with h5py.File(make(tmp_path / "lf.h5"), "a") as root:
            root.pop(name, None)
            root.create_dataset(name, **empty)
        with pytest.raises(InputError, match=f"lf.h5: its dataset {name} holds no values"):
            open_scene(tmp_path / "lf.h5")


def test_truth_that_has_no_depth_is_not_dropped(tmp_path: Path) -> None:
    parameters = {"focal_length_mm": 50, "sensor_size_mm": 36, "baseline_mm": 18, "focus_distance_m": 2.15}
    truth = np.zeros((8, 12))
    truth[0, :2] = -50, np.nan  # far beyond infinity; and unknown, which it may be
    with pytest.raises(InputError, match="1 disparities of the ground truth have no depth"):
        save_lightfield(tmp_path / "lf.h5", some_views(), ground_truth=truth, parameters=parameters)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("with_truth", [True, False])
@pytest.mark.parametrize("name", ["occlusion", "parallel", "low-texture"])
def test_the_images_decide_which_way_columns_are_counted(tmp_path: Path, name: str, with_truth: bool) -> None:
    folder = synth.write(name, tmp_path / "hci", (64, 64), grid=5, views="all")
    expected = open_scene(folder)
    views = np.stack([read_image(path) for path in sorted(folder.glob("*.png"))]).reshape(5, 5, 64, 64, 3)
    calibration = expected.calibration
    assert calibration is not None
    told = {"dH": 2.0, "focalLength": calibration.product / 2.0, "shift": calibration.offset}
    depth = calibration.depth(expected.ground_truth) if with_truth else None
    for columns, array in (("to the right", views), ("to the left", views[:, ::-1])):
        found = open_scene(make(tmp_path / f"{columns}.h5", array, depth, **(told if with_truth else {})))
        assert found.metadata["columns"] == f"counted {columns}, as the images show"
        np.testing.assert_array_equal(found.baselines, expected.baselines)
        np.testing.assert_array_equal(found.targets, expected.targets)
        two_rows = open_scene(make(tmp_path / f"two rows {columns}.h5", array[1:3]))
        assert two_rows.metadata["columns"] == f"counted {columns}, as the images show"


def test_ambiguous_columns_follow_the_set_and_the_metadata_say_so(tmp_path: Path) -> None:
    assert open_scene(make(tmp_path / "a.h5")).metadata["columns"] == COLUMNS[None]
