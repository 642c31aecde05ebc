"""A rig.toml, with baselines or cameras, is read strictly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import value_or_refusal
from gradcon.errors import InputError
from gradcon.io import open_scene
from gradcon.io.formats.rig import parse_rig, write_rig
from gradcon.io.listing import Listing
from gradcon.scene.geometry import Camera
from gradcon.scene.luma import to_luma

TRUTH = np.arange(48, dtype=np.float32).reshape(6, 8)
K = np.array([[10, 0, 3.5], [0, 10, 2.5], [0, 0, 1.0]])


def images(count=3, seed=0):
    rng = np.random.default_rng(seed)
    return {f"{'abcdefg'[k]}.png": rng.integers(0, 256, (6, 8, 3), dtype=np.uint8) for k in range(count)}


def turned(degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def cameras():
    return [
        Camera(K, np.eye(3), np.zeros(3)),
        Camera(K * [[1.1], [1.1], [1]], turned(2), np.array([-0.5, 0, 0.01])),
        Camera(K, turned(-1), np.array([0, -0.25, 0.02])),
    ]


def test_baselines_are_relative_to_the_reference(tmp_path):
    pictures = images()
    write_rig(tmp_path, pictures, [(1, 2), (3, 2), (1, 1.5)], reference="a.png", ground_truth=TRUTH, name="my rig")
    for path in (tmp_path, tmp_path / "rig.toml"):
        scene = open_scene(path)
        assert (scene.name, scene.reference_name, scene.target_names) == (
            "my rig",
            "a.png",
            ["c.png", "b.png"],
        )
        assert scene.baselines.tolist() == [[0, -0.5], [2, 0]]
        np.testing.assert_array_equal(scene.ground_truth, TRUTH)
        np.testing.assert_array_equal(scene.reference, to_luma(pictures["a.png"]))
    other = open_scene(tmp_path, reference="b.png", views=2)
    assert other.baselines.tolist() == [[-2, 0]]
    assert other.ground_truth is None


def test_cameras_round_trip(tmp_path):
    from gradcon.scene import Scene

    pictures = images()
    write_rig(tmp_path, pictures, cameras(), reference="a.png", ground_truth=TRUTH)
    scene = open_scene(tmp_path)
    expected = Scene.from_cameras(pictures["a.png"], [pictures["b.png"], pictures["c.png"]], cameras())
    assert scene.fingerprint() == expected.fingerprint()
    assert scene.calibration.product == expected.calibration.product
    np.testing.assert_array_equal(scene.ground_truth, TRUTH)


def test_truth_keeps_its_meaning_when_the_nearest_view_is_left_out(tmp_path):
    places = [Camera(K, np.eye(3), np.array(t)) for t in ([0, 0, 0], [-0.1, -0.1, 0], [-0.5, 0, 0.0])]
    write_rig(tmp_path, images(), places, reference="a.png", ground_truth=TRUTH)
    every, cross = open_scene(tmp_path), open_scene(tmp_path, views="cross")
    assert cross.target_names == ["c.png"]
    for scene in (every, cross):
        depth = scene.calibration.depth(scene.ground_truth[1:])
        np.testing.assert_allclose(depth, np.sqrt(2) / TRUTH[1:], rtol=1e-5)


def test_shared_intrinsics_and_subfolders(tmp_path):
    write_rig(tmp_path / "left", images(2), [(0, 0), (1, 0)], reference="a.png")
    (tmp_path / "rig.toml").write_text(
        f"""
        reference = "left/a.png"
        K = {K.tolist()}
        views = [
          {{image = "left/a.png", R = {np.eye(3).tolist()}, t = [0, 0, 0]}},
          {{image = "left/b.png", R = {np.eye(3).tolist()}, t = [-1, 0, 0]}},
        ]"""
    )
    np.testing.assert_allclose(open_scene(tmp_path).baselines, [[-1, 0]])


GOOD = """reference = "a.png"
[[views]]
image = "a.png"
baseline = [0, 0]
[[views]]
image = "b.png"
baseline = [1, 0]
"""
CAMERA = "R = [[1,0,0],[0,1,0],[0,0,1]]\nt = [1, 0, 0]"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("reference", "referense", "unknown field 'referense'; did you mean 'reference'"),
        ('reference = "a.png"', "", "'reference' is missing"),
        ('reference = "a.png"', 'reference = "c.png"', "'reference' names 'c.png'"),
        ('reference = "a.png"', "reference = 3", "'reference' must be text"),
        ('reference = "a.png"', "reference = ", "not a TOML file"),
        ('image = "b.png"', "", "view 2: the field 'image' is missing"),
        ('image = "b.png"', 'image = "a.png"', "names 'a.png' again"),
        ('image = "b.png"', 'image = "../b.png"', "leaves the rig's folder"),
        ('image = "b.png"', 'image = "/etc/b.png"', "leaves the rig's folder"),
        ('image = "b.png"', "image = 'C:\\b.png'", "leaves the rig's folder"),
        ('image = "b.png"', 'image = ""', "'image' must be text"),
        ('image = "b.png"', 'image = "b.png"\nfoo = 1', "view 2: unknown field 'foo'"),
        ("baseline = [1, 0]", "", "view 2: the field 'baseline' is missing"),
        ("baseline = [1, 0]", "baseline = [1]", "'baseline' must be two numbers"),
        ("baseline = [1, 0]", "baseline = [1, true]", "'baseline' must be two numbers"),
        ("baseline = [1, 0]", "baseline = [1, nan]", "'baseline' must be two numbers"),
        ("baseline = [1, 0]", f"baseline = [1, {'9' * 400}]", "'baseline' must be two numbers"),
        ("baseline = [1, 0]", f"baseline = [1, {'9' * 5000}]", "not a TOML file"),
        ("baseline = [1, 0]", f"baseline = {'[' * 5000}", "not a TOML file"),
        ("baseline = [1, 0]", CAMERA, "view 2: the field 'K' is missing"),
        ("baseline = [1, 0]", f"K = {K.tolist()}\n{CAMERA}", "all views a baseline"),
        ("baseline = [1, 0]", f"baseline = [1, 0]\n{CAMERA}", "only one kind"),
        (
            "baseline = [1, 0]",
            f"K = {K.tolist()}\nR = [[2,0,0],[0,1,0],[0,0,1]]\nt=[1,0,0]",
            "not a rotation",
        ),
        ("baseline = [1, 0]", f"K = {K.tolist()}\nR = [[1,0],[0,1]]\nt=[1,0,0]", "'R' must be 3 x 3"),
        ("baseline = [1, 0]", "baseline = [0, 0]", "b.png: stands at the position of a.png"),
        ('[[views]]\nimage = "b.png"\nbaseline = [1, 0]', "", "fewer than two views"),
        (GOOD, "views = 3", "views"),
        (GOOD, "views = [3]", "views"),
        (GOOD, 'reference = "a.png"', "'views' is missing"),
        (
            'reference = "a.png"',
            'reference = "a.png"\nground_truth = "no.pfm"',
            r"no\.pfm: there is no such file",
        ),
        ('reference = "a.png"', 'reference = "a.png"\nground_truth = "../t.pfm"', "leaves the rig's folder"),
        ('reference = "a.png"', 'reference = "a.png"\nname = []', "'name' must be text"),
        ('image = "b.png"', 'image = "gone.png"', r"gone\.png: there is no such file"),
    ],
)
def test_bad_rigs(tmp_path, old, new, said):
    write_rig(tmp_path, images(2), [(0, 0), (1, 0)], reference="a.png")
    assert old in GOOD
    (tmp_path / "rig.toml").write_text(GOOD.replace(old, new))
    with pytest.raises(InputError, match=said) as caught:
        open_scene(tmp_path)
    assert "\n" not in str(caught.value)


def test_two_views_with_the_same_baseline_are_named(tmp_path):
    write_rig(tmp_path, images(), [(0, 0), (1, 0), (1, 0)], reference="a.png")
    with pytest.raises(InputError, match=r"c\.png: has the same baseline as b\.png"):
        open_scene(tmp_path)


def test_write_refuses(tmp_path):
    pictures = images(2)
    for bad in (
        lambda: write_rig(tmp_path / "n", pictures, [(0, 0)], reference="a.png"),
        lambda: write_rig(tmp_path / "n", pictures, [(0, 0), (1, 0)], reference="c.png"),
        lambda: write_rig(tmp_path / "n", pictures, [(0, 0), (np.nan, 0)], reference="a.png"),
        lambda: write_rig(tmp_path / "n", {**pictures, "../x.png": TRUTH}, [(0, 0)] * 3, reference="a.png"),
        lambda: write_rig(tmp_path / "n", {"a.png": TRUTH, "b.png": TRUTH}, [(0, 0), (1, 0)], reference="a.png"),
    ):
        with pytest.raises(InputError):
            bad()
        assert not (tmp_path / "n").exists()


NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**6), 10**6)
NAMES = st.text(min_size=1, max_size=12).map(lambda text: text + ".png")


@given(st.dictionaries(NAMES, st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=4), st.text(max_size=9))
def test_valid_rigs_round_trip(tmp_path_factory, places, name):
    folder = tmp_path_factory.getbasetemp() / "round-trip"
    pixels, reference = np.zeros((2, 2), np.uint8), min(places)
    found = []

    def capture(_, files):
        found.append(dict(files)["rig.toml"].decode())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gradcon.io.formats.rig.write_files", capture)
        try:
            write_rig(folder, dict.fromkeys(places, pixels), list(places.values()), reference=reference, name=name)
        except InputError:  # a name that no rig may hold
            return
    listing = parse_rig(found[0], folder / "rig.toml")
    assert {view.name: view.stands for view in listing.views} == places
    assert (listing.reference.name, listing.name) == (reference, name)


VALUE = st.recursive(
    st.sampled_from(['"a.png"', '"../b"', "1", "-0.5", "nan", "true", "1979-05-27", "'x'", "{a = 1}"]),
    lambda inner: st.lists(inner, max_size=4).map(lambda parts: f"[{', '.join(parts)}]"),
    max_leaves=12,
)
FIELD = st.sampled_from(["name", "reference", "ground_truth", "K", "views", "image", "baseline", "R", "t", "x"])
LINE = st.tuples(FIELD, VALUE).map(" = ".join) | st.sampled_from(["[[views]]", "[views]", 'image = "b.png"'])


@given(
    st.text()
    | st.lists(LINE, max_size=12).map("\n".join)
    | st.lists(LINE, max_size=3).map(lambda more: GOOD + "\n".join(more))
)
def test_arbitrary_text_is_parsed_or_refused(text):
    assert isinstance(value_or_refusal("a.toml", parse_rig, text, Path("a.toml")), Listing | None)


WITH_LENS = """
reference = "a.png"
K = [[10, 0, 3.5], [0, 10, 2.5], [0, 0, 1]]
distortion = [-0.2, 0.05, 0.001, -0.001]

[[views]]
image = "a.png"
baseline = [0, 0]

[[views]]
image = "b.png"
baseline = [-1, 0]
distortion = [0.3, 0, 0, 0, 0]
"""


def test_views_of_lenses_may_have_baselines_or_cameras(tmp_path):
    views = parse_rig(WITH_LENS, tmp_path / "rig.toml").views
    assert [view.stands for view in views] == [(0, 0), (-1, 0)]
    assert views[0].undistortion.distortion.named == {"k1": -0.2, "k2": 0.05, "p1": 0.001, "p2": -0.001}
    assert views[1].undistortion.distortion.named["k1"] == 0.3
    pose = "R = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]\nt = [{}, 0, 0]"
    cameras = WITH_LENS.replace("baseline = [0, 0]", pose.format(0)).replace("baseline = [-1, 0]", pose.format(-0.1))
    new = np.array([[7, 0, 3.5], [0, 7, 2.5], [0, 0, 1.0]])
    cameras = cameras.replace("distortion = [-0.2", f"undistorted_K = {new.tolist()}\ndistortion = [-0.2")
    for view in parse_rig(cameras, tmp_path / "rig.toml").views:
        np.testing.assert_array_equal(view.stands.K, new)
        np.testing.assert_array_equal(view.undistortion.K, K)
    write_rig(tmp_path, images(2), [(0, 0), (-1, 0)], reference="a.png")
    (tmp_path / "rig.toml").write_text(WITH_LENS)
    assert not open_scene(tmp_path).seen[1].all()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[-0.2, 0.05, 0.001, -0.001]", "[-0.2, 0.05, 0.001]", "brown lens must be 4 or 5 or 8 numbers, not 3 numbers"),
        ("[-0.2, 0.05, 0.001, -0.001]", "-0.2", "must be 4 or 5 or 8 numbers, not -0.2"),
        ("[-0.2, 0.05, 0.001, -0.001]", "[-0.2, 0.05, nan, 0]", "must be 4 finite numbers"),
        ("[-0.2, 0.05, 0.001, -0.001]", "[-9, 0, 0, 0]", r"view 1: its lens distortion folds .*k1 = -9"),
        ("[0.3, 0, 0, 0, 0]", '[0.3, 0, 0, 0, 0]\nlens = "fisheye"', "fisheye lens must be 4 numbers, not 5 numbers"),
        ("[0.3, 0, 0, 0, 0]", '[0.3, 0, 0, 0]\nlens = "fisheyes"', "model 'fisheyes'; did you mean 'fisheye'"),
        ("K = [[10, 0, 3.5], [0, 10, 2.5], [0, 0, 1]]", "", "view 1: the field 'K' is missing"),
        ("distortion = [-0.2, 0.05, 0.001, -0.001]", 'lens = "brown"', "view 1: has a lens but no distortion"),
        (
            "[0.3, 0, 0, 0, 0]",
            "[0, 0, 0, 0]\nK = [[9, 0, 3], [0, 9, 3], [0, 0, 1]]",
            "their undistorted cameras differ",
        ),
        (
            "distortion = [-0.2",
            "undistorted_K = [[1, 0, 0], [0, 0, 0], [0, 0, 1]]\ndistortion = [-0.2",
            "undistorted_K",
        ),
    ],
)
def test_refusals_of_lenses(tmp_path, old, new, said):
    assert old in WITH_LENS
    write_rig(tmp_path, images(2), [(0, 0), (-1, 0)], reference="a.png")
    (tmp_path / "rig.toml").write_text(WITH_LENS.replace(old, new))
    with pytest.raises(InputError, match=said) as caught:
        open_scene(tmp_path)
    assert "\n" not in str(caught.value)
