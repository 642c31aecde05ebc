"""4D light-field folders are written and read back, and contradictions are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import value_or_refusal
from gradcon.errors import InputError
from gradcon.io import open_scene
from gradcon.io.formats.hci import write_hci
from gradcon.io.formats.hci_parameters import COUNT, KIND, LENGTH, NEEDED, NUMBER, format_parameters, parse_parameters
from gradcon.scene.luma import to_luma

OPTICS = {"focal_length_mm": 100.0, "sensor_size_mm": 35.0, "baseline_mm": 5.5, "focus_distance_m": 2.0}
WHOLE = {**OPTICS, "num_cams_x": 9, "num_cams_y": 9, "image_resolution_x_px": 8, "image_resolution_y_px": 6}


def light_field(rows=9, columns=9, colour=True, seed=0):
    shape = (rows, columns, 6, 8, 3) if colour else (rows, columns, 6, 8)
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def edit(folder, old, new):
    path = folder / "parameters.cfg"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.fixture
def folder(tmp_path):
    return write_hci(tmp_path / "scene", light_field(), np.arange(48.0).reshape(6, 8), OPTICS)


@pytest.mark.parametrize("colour", [True, False])
@pytest.mark.parametrize(("rows", "columns"), [(9, 9), (3, 5), (2, 1)])
def test_round_trip(tmp_path, rows, columns, colour):
    views, truth = light_field(rows, columns, colour), np.arange(48.0).reshape(6, 8)
    truth[2, 3] = np.nan
    scene = open_scene(write_hci(tmp_path, views, truth, {**OPTICS, "scene": "x = y; %z", "disp_min": -1.5}))
    v0, u0 = rows // 2, columns // 2
    np.testing.assert_array_equal(scene.reference, to_luma(views[v0, u0]))
    np.testing.assert_array_equal(scene.ground_truth, truth.astype(np.float32))
    assert len(scene.targets) == rows * columns - 1
    for target, (bx, by), name in zip(scene.targets, scene.baselines, scene.target_names, strict=True):
        v, u = v0 - int(by), u0 - int(bx)  # B = (col_ref - col, row_ref - row)
        assert name == f"input_Cam{v * columns + u:03d}.png"
        np.testing.assert_array_equal(target, to_luma(views[v, u]))
    assert scene.metadata["scene"] == "x = y; %z"
    assert scene.metadata["baseline_mm"] == 5.5
    assert scene.metadata["num_cams_x"] == columns


def test_without_cfg_the_grid_is_nine_by_nine(tmp_path):
    cells = [(4, 4), (4, 5), (0, 4)]
    scene = open_scene(write_hci(tmp_path, light_field(), cells=cells))
    assert scene.baselines.tolist() == [[-1, 0], [0, 4]]
    assert scene.ground_truth is None
    with pytest.raises(InputError, match="give the parameters"):
        write_hci(tmp_path / "b", light_field(3, 3))


@pytest.mark.parametrize(("views", "count"), [("all", 80), ("cross", 16), ("star", 32), (9, 8), ("17", 16)])
def test_views_are_chosen_before_images_are_read(folder, views, count):
    (folder / "input_Cam001.png").write_bytes(b"broken")  # outside cross, star and the nearest ones
    if views == "all":
        with pytest.raises(InputError, match=r"input_Cam001\.png"):
            open_scene(folder, views=views)
    else:
        assert len(open_scene(folder, views=views).targets) == count


def test_another_reference(folder, tmp_path):
    scene = open_scene(folder, reference="input_Cam000.png", views=3)
    assert scene.baselines.tolist() == [[0, -1], [-1, 0]] or scene.baselines.tolist() == [[-1, 0], [0, -1]]
    assert scene.ground_truth is None  # the file's truth is the centre view's
    (folder / "gt_disp_lowres.pfm").rename(folder / "gt_disp_lowres_Cam000.pfm")
    assert open_scene(folder, reference="input_Cam000.png").ground_truth is not None
    assert open_scene(folder).ground_truth is None
    with pytest.raises(InputError, match=r"; did you mean 'input_Cam0\d\d\.png'\?$"):
        open_scene(folder, reference="input_Cam0.png")


def test_missing_views(folder):
    (folder / "input_Cam040.png").unlink()
    with pytest.raises(InputError, match=r"input_Cam040\.png is missing"):
        open_scene(folder)
    assert len(open_scene(folder, reference="input_Cam041.png").targets) == 79
    for path in folder.glob("input_Cam*.png"):
        if path.name != "input_Cam041.png":
            path.unlink()
    with pytest.raises(InputError, match="holds only one view"):
        open_scene(folder, reference="input_Cam041.png")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("num_cams_x = 9", "num_cams_x = 8", r"input_Cam072\.png: is outside"),
        ("num_cams_x = 9", "num_cams_x = 0", "'num_cams_x' must be a positive whole number, not '0'"),
        ("num_cams_x = 9", "num_cams_x = nine", "'num_cams_x' must be"),
        ("num_cams_x = 9\n", "", "'num_cams_x' is missing"),
        ("num_cams_x", "num_cam_x", "unknown field 'num_cam_x'; did you mean 'num_cams_x'"),
        ("baseline_mm = 5.5", "baseline_mm = -1", "'baseline_mm' must be a positive number"),
        ("baseline_mm = 5.5", "baseline_mm = nan", "'baseline_mm' must be"),
        ("baseline_mm = 5.5", "baseline_mm = 1e999", "'baseline_mm' must be"),
        ("baseline_mm = 5.5", "baseline_mm =", "'baseline_mm' must be"),
        ("baseline_mm = 5.5", "baseline_mm", "parsing errors"),
        ("baseline_mm = 5.5", "baseline_mm = 1\nbaseline_mm = 2", "already exists"),
        ("[extrinsics]", "[extrinsic]", "unknown section 'extrinsic'; did you mean"),
        ("[extrinsics]", "[DEFAULT]", "unknown section 'DEFAULT'"),
        ("[intrinsics]", "", "no section headers"),
        ("_x_px = 8", "_x_px = 9", "9 x 6 pixels, but input_Cam040.png is 8 x 6"),
    ],
)
def test_bad_parameters(folder, old, new, said):
    edit(folder, old, new)
    with pytest.raises(InputError, match=said) as caught:
        open_scene(folder)
    assert "\n" not in str(caught.value)
    assert "scene" in str(caught.value)


def test_parameters_that_are_not_text(folder):
    (folder / "parameters.cfg").write_bytes(b"\xff\xfe\0")
    with pytest.raises(InputError, match=r"parameters\.cfg: is not UTF-8"):
        open_scene(folder)
    (folder / "parameters.cfg").write_bytes(b"")
    with pytest.raises(InputError, match=r"parameters\.cfg: is empty"):
        open_scene(folder)


def test_views_of_different_sizes_and_wrong_truth(folder, tmp_path):
    other = write_hci(tmp_path / "o", light_field()[..., :5, :, :], np.zeros((5, 8)), cells=[(4, 4), (0, 0)])
    (folder / "gt_disp_lowres.pfm").write_bytes((other / "gt_disp_lowres.pfm").read_bytes())
    with pytest.raises(InputError, match="ground truth") as caught:
        open_scene(folder)
    assert caught.value.where == str(folder / "gt_disp_lowres.pfm")
    (folder / "gt_disp_lowres.pfm").unlink()
    (folder / "input_Cam000.png").write_bytes((other / "input_Cam000.png").read_bytes())
    with pytest.raises(InputError, match=r"input_Cam000\.png: is 8 x 5 pixels"):
        open_scene(folder)


def test_write_refuses(tmp_path, folder):
    views = light_field()
    for bad in (
        lambda: write_hci(tmp_path / "n", views.astype(float)),
        lambda: write_hci(tmp_path / "n", views, cells=[(9, 0)]),
        lambda: write_hci(tmp_path / "n", views, np.zeros((8, 6))),
        lambda: write_hci(tmp_path / "n", views, None, {**OPTICS, "num_cams_x": 8}),
        lambda: write_hci(tmp_path / "n", views, None, {**OPTICS, "scene": "two\nlines"}),
        lambda: write_hci(tmp_path / "n", views, None, {**OPTICS, "colour": "red"}),
        lambda: write_hci(tmp_path / "n", views, None, {"scene": "no optics"}),
    ):
        with pytest.raises(InputError):
            bad()
        assert not (tmp_path / "n").exists()
    with pytest.raises(InputError, match="already holds another scene"):
        write_hci(folder, views, cells=[(4, 4), (4, 5)])
    write_hci(folder, views, np.zeros((6, 8)), OPTICS)  # the same files: replaced


BY_KIND = {
    COUNT: st.integers(1, 999999),
    LENGTH: st.floats(min_value=1e-300, max_value=1e300),
    NUMBER: st.floats(allow_nan=False, allow_infinity=False),
}
WORDS = st.text("ab 1.,=:;#%[]{}()$'\"\\é漢", max_size=12).map(str.strip)
VALUES = {name: BY_KIND.get(kind, WORDS) for name, kind in KIND.items()}
CFGS = st.fixed_dictionaries(
    {name: VALUES[name] for name in NEEDED},
    optional={name: values for name, values in VALUES.items() if name not in NEEDED},
)


@given(CFGS)
def test_parameters_round_trip(values):
    assert parse_parameters(format_parameters(values)) == values


LINES = st.sampled_from([*format_parameters(WHOLE).split("\n"), "[meta]", "fstop = x", " more", "=", "a:b", "[", "#"])


@given(st.text() | st.lists(LINES | st.text(max_size=12), max_size=24).map("\n".join))
def test_arbitrary_text_is_parsed_or_refused(text):
    values = value_or_refusal("a.cfg", parse_parameters, text, "a.cfg")
    assert values is None or set(NEEDED) <= set(values)
