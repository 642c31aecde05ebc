"""Light fields in NumPy files: which axes count views, which parts are read, and what is refused."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import value_or_refusal
from gradcon import Scene, open_scene
from gradcon.errors import InputError
from gradcon.io.formats.lightfield_array import save_lightfield
from gradcon.npz import StoredArray

PARAMETERS = {"focal_length_mm": 50, "sensor_size_mm": 36, "baseline_mm": 18, "focus_distance_m": 2.15}


def some_views(shape: tuple[int, ...] = (3, 5, 8, 12, 3), seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(1, 256, shape, dtype=np.uint8)


def saved(path: Path, array: Any) -> Path:
    with open(path, "wb") as handle:
        np.save(handle, array)
    return path


@pytest.mark.parametrize("shape", [(3, 5, 8, 12), (3, 5, 8, 12, 3), (3, 5, 8, 12, 4), (2, 2, 8, 12)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_grid_is_as_from_lightfield(tmp_path: Path, shape: tuple[int, ...], order: Any) -> None:
    views = some_views(shape)
    scene = open_scene(saved(tmp_path / "any.name", np.asarray(views, order=order)))
    plain = Scene.from_lightfield(views)
    assert scene.fingerprint() == plain.fingerprint()
    assert (scene.reference_name, scene.target_names) == (plain.reference_name, plain.target_names)


@pytest.mark.parametrize("shape", [(5, 8, 12), (5, 8, 12, 3)])
def test_one_row_of_views(tmp_path: Path, shape: tuple[int, ...]) -> None:
    views = some_views(shape).astype(">u2") * 250
    scene = open_scene(saved(tmp_path / "row.npy", views))
    np.testing.assert_array_equal(scene.colour, views[2])
    assert scene.baselines[scene.target_names.index("view 4")].tolist() == [-2, 0]
    assert open_scene(tmp_path / "row.npy", reference="1").reference_name == "view 1"


@pytest.mark.parametrize("told", ["0,3", "(0, 3)", "view (0, 3)"])
def test_reference_by_its_place(tmp_path: Path, told: str) -> None:
    assert open_scene(saved(tmp_path / "lf.npy", some_views()), reference=told).reference_name == "view (0, 3)"


@pytest.mark.parametrize("told", ["3,0", "3", "-1,0", "view", "0,0,0", "input_Cam000.png"])
def test_a_reference_that_does_not_exist(tmp_path: Path, told: str) -> None:
    with pytest.raises(InputError, match=r"choose from view \(0, 0\) to view \(2, 4\)"):
        open_scene(saved(tmp_path / "lf.npy", some_views()), reference=told)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_states_truth_reference_calibration_and_name(tmp_path: Path, save: Any) -> None:
    views, truth = some_views(), np.linspace(-1, 1, 96).reshape(8, 12)
    save(tmp_path / "lf.npz", views=views, ground_truth=truth, reference=(0, 4), name="mine", **PARAMETERS)
    scene = open_scene(tmp_path / "lf.npz")
    np.testing.assert_array_equal(scene.colour, views[0, 4])
    np.testing.assert_array_equal(scene.ground_truth, truth.astype(np.float32))
    assert (scene.name, scene.reference_name) == ("mine", "view (0, 4)")
    assert scene.calibration is not None
    offset = scene.calibration.offset
    assert scene.calibration.K[:2, 2] == pytest.approx([5.5 + 2 * offset, 3.5 - offset])
    assert open_scene(tmp_path / "lf.npz", reference="1,1").ground_truth is None


def test_npz_with_baselines(tmp_path: Path) -> None:
    views = some_views((3, 8, 12))
    np.savez(tmp_path / "lf.npz", views=views, baselines=[[-1, 0], [0, 0], [0.5, 2]])
    scene = open_scene(tmp_path / "lf.npz")
    assert (scene.reference_name, scene.target_names) == ("view 1", ["view 0", "view 2"])
    assert scene.baselines.tolist() == [[-1, 0], [0.5, 2]]
    np.savez(tmp_path / "lf.npz", views=views, baselines=[[-1, 0], [1, 0], [0.5, 2]])
    with pytest.raises(InputError, match="none of its baselines is"):
        open_scene(tmp_path / "lf.npz")
    np.savez(tmp_path / "lf.npz", views=views, baselines=[[-1, 0], [1, 0], [0.5, 2]], reference=2)
    assert open_scene(tmp_path / "lf.npz").baselines.tolist() == [[0.5, -2], [-1.5, -2]]


def test_only_chosen_views_of_a_stored_file_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    views = some_views()
    paths = saved(tmp_path / "lf.npy", views), save_lightfield(tmp_path / "lf.npz", views)
    asked = []
    one = StoredArray.__getitem__

    def counting(self: StoredArray, index: tuple[int, ...]) -> Any:
        part = one(self, index)
        asked.append((index, part.nbytes))
        assert self._unpacked is None  # not as a whole
        return part

    monkeypatch.setattr(StoredArray, "__getitem__", counting)
    for path in paths:
        asked.clear()
        open_scene(path, views="cross")
        assert sorted(asked) == sorted(((v, u), 8 * 12 * 3) for v, u in np.ndindex(3, 5) if v == 1 or u == 2)


class Bomb:
    def __reduce__(self) -> Any:
        return pytest.fail, ("a pickle was loaded",)


def test_pickles_are_never_loaded(tmp_path: Path) -> None:
    objects = np.array([[Bomb(), Bomb()], [Bomb(), 1]], dtype=object)
    np.save(tmp_path / "lf.npy", objects, allow_pickle=True)
    with pytest.raises(InputError, match="holds Python objects, which are never loaded"):
        open_scene(tmp_path / "lf.npy")
    np.savez(tmp_path / "lf.npz", views=some_views(), name=objects)
    with pytest.raises(InputError, match="name: holds Python objects"):
        open_scene(tmp_path / "lf.npz")
    (tmp_path / "plain.npy").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(InputError, match="is not a file that can be opened"):
        open_scene(tmp_path / "plain.npy")


@pytest.mark.parametrize(
    ("array", "says"),
    [
        (np.zeros((8, 12), np.uint8), "is not a light field"),
        (np.zeros((8, 12, 3), np.uint8), "is one image"),
        (np.zeros((3, 3, 8, 12, 9), np.uint8), "is not a light field"),
        (np.zeros((0, 3, 8, 12), np.uint8), "which is empty"),
        (np.zeros((3, 3, 8, 12), complex), "type complex128"),
        (np.zeros((3, 3, 8, 12), "U3"), "type <U3"),
        (np.zeros((3, 3, 8, 12), [("r", "u1"), ("g", "u1")]), "type"),
        (np.zeros((200, 100, 8, 1), np.uint8), "which is more than 16,384 views"),
    ],
)
def test_arrays_that_are_not_light_fields(tmp_path: Path, array: np.ndarray, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        open_scene(saved(tmp_path / "lf.npy", array))
    assert str(caught.value).startswith(str(tmp_path / "lf.npy"))


@pytest.mark.parametrize(
    ("members", "says"),
    [
        ({"arr_0": some_views(), "arr_1": some_views()}, "no array `views`, only arr_0"),
        ({"views": some_views(), "baseline": [1]}, "unknown field 'baseline'; did you mean 'baselines'"),
        ({"views": some_views(), "baselines": np.zeros((3, 2))}, "as baselines are given"),
        ({"views": some_views((3, 8, 12)), "baselines": np.zeros((2, 2))}, r"baselines must be \(3, 2\)"),
        (
            {"views": some_views(), "ground_truth": np.zeros((8, 11))},
            r"must be numbers of the views' shape \(8, 12\)",
        ),
        ({"views": some_views(), "reference": (1.5, 0)}, "is not one of its views"),
        ({"views": some_views(), "focal_length_mm": 50}, "'sensor_size_mm' is missing"),
        ({"views": some_views(), **PARAMETERS, "baseline_mm": -1}, "'baseline_mm' must be a positive number"),
        (
            {"views": some_views(), "name": np.zeros(10**6)},
            "8,000,000 bytes of values, but at most 1,048,576",
        ),
    ],
)
def test_archives_that_do_not_fit(tmp_path: Path, members: dict[str, Any], says: str) -> None:
    np.savez(tmp_path / "lf.npz", **members)
    with pytest.raises(InputError, match=says):
        open_scene(tmp_path / "lf.npz")


def test_archives_that_cannot_be_trusted(tmp_path: Path) -> None:
    path = tmp_path / "lf.npz"
    content = io.BytesIO()
    np.save(content, some_views())
    for name in ("../views.npy", "/views.npy", "..\\views.npy", "C:views.npy"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, content.getvalue())
        with pytest.raises(InputError, match="leaves the archive"):
            open_scene(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("views.npy", content.getvalue())
    with pytest.raises(InputError, match="compressed by a method that NumPy does not use"):
        open_scene(path)
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "|u1", "fortran_order": False, "shape": (9, 9, 10**5, 10**5)})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("views.npy", head.getvalue() + bytes(100))
    with pytest.raises(InputError, match="header announces 810,000,000,000"):
        open_scene(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("views.npy", content.getvalue())
    packed = bytearray(path.read_bytes())
    directory = packed.index(b"PK\x01\x02")
    packed[directory + 24 : directory + 28] = (2**31).to_bytes(4, "little")  # the size that it claims when unpacked
    path.write_bytes(packed)
    with pytest.raises(InputError, match="more than can be unpacked"):
        open_scene(path)


@pytest.mark.parametrize("name", ["lf.npy", "lf.npz", "packed.npz"])
@given(share=st.floats(0, 1), flip=st.integers(0, 255))
def test_damaged_files_are_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, name: str, share: float, flip: int
) -> None:
    path = tmp_path_factory.mktemp("damaged") / name
    if name == "lf.npy":
        saved(path, some_views((2, 2, 6, 7)))
    else:
        {"lf.npz": np.savez, "packed.npz": np.savez_compressed}[name](path, views=some_views((2, 2, 6, 7)))
    content = path.read_bytes()
    path.write_bytes(content[: 50 + int(share * (len(content) - 51))])
    assert value_or_refusal(path, open_scene, path) is None
    changed = bytearray(content)
    changed[6 + int(share * (len(content) - 7))] ^= flip
    path.write_bytes(changed)
    value_or_refusal(path, open_scene, path)


def test_errors_in_a_view_or_the_calibration_name_the_file(tmp_path: Path) -> None:
    views = some_views().astype(np.float32)
    views[0, 0, 0, 0] = np.nan
    with pytest.raises(InputError, match=r"lf\.npy, view \(0, 0\): 3 pixel values are NaN"):
        open_scene(saved(tmp_path / "lf.npy", views))
    np.savez(tmp_path / "lf.npz", views=some_views(), **{**PARAMETERS, "baseline_mm": 1e308})
    with pytest.raises(InputError, match=r"lf\.npz, calibration: "):
        open_scene(tmp_path / "lf.npz")


@pytest.mark.filterwarnings("error")
def test_values_too_large_for_float32_cause_no_warnings(tmp_path: Path) -> None:
    np.savez(tmp_path / "lf.npz", views=some_views(), ground_truth=np.full((8, 12), 1e300))
    truth = open_scene(tmp_path / "lf.npz").ground_truth
    assert truth is not None
    assert np.isnan(truth).all()
    with pytest.raises(InputError, match="too large for float32"):
        open_scene(saved(tmp_path / "lf.npy", some_views() * 1e300))


def test_a_name_is_one_text(tmp_path: Path) -> None:
    np.savez(tmp_path / "lf.npz", views=some_views(), name=np.zeros((2, 2)))
    with pytest.raises(InputError, match="name must be one text"):
        open_scene(tmp_path / "lf.npz")


@pytest.mark.parametrize("suffix", [".zarr", ".h5"])
def test_a_blank_view_that_could_not_be_read_back_is_not_written(tmp_path: Path, suffix: str) -> None:
    views = some_views()
    views[2, 4] = 0
    with pytest.raises(InputError, match=r"view \(2, 4\): all its pixels are 0"):
        save_lightfield(tmp_path / f"lf{suffix}", views)
    assert not list(tmp_path.iterdir())


def test_a_single_array_may_have_any_name(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", some_views())
    np.savez(tmp_path / "b.npz", some_views())
    np.savez(tmp_path / "c.npz", lightfield=some_views())
    expected = open_scene(tmp_path / "a.npy")
    for name in ("b.npz", "c.npz"):
        assert open_scene(tmp_path / name).fingerprint() == expected.fingerprint()
