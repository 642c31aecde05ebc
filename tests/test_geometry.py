"""Where a pixel lands in another view, and how the warped image moves with the disparity."""

from __future__ import annotations

import numpy as np
import pytest

from gradcon.errors import InputError
from gradcon.scene.geometry import Camera, baseline, coupling, is_planar, planar, project


def rotation(rng: np.random.Generator, degrees: float) -> np.ndarray:
    """Return a rotation about a random axis, by Rodrigues' formula."""
    axis = rng.normal(size=3)
    x, y, z = axis / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    angle = np.deg2rad(degrees)
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def camera(rng: np.random.Generator) -> Camera:
    K = [[300 + 20 * rng.normal(), rng.normal(), 64], [0, 300 + 20 * rng.normal(), 48], [0, 0, 1]]
    return Camera.of(K, rotation(rng, 8), 0.1 * rng.normal(size=3))


@pytest.fixture(params=range(5))
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    return np.random.default_rng(request.param)


def test_project_is_the_explicit_projection_of_a_point(rng: np.random.Generator) -> None:
    """The unknown is w = 1 / Z, with Z the depth in the reference's frame."""
    reference, other = camera(rng), camera(rng)
    s, Z = np.array([20.0, 70.0, 1.0]), 3.0
    in_reference = Z * np.linalg.inv(reference.K) @ s
    world = reference.R.T @ (in_reference - reference.t)
    seen = other.K @ (other.R @ world + other.t)
    u, v, z = project(*other.relative_to(reference), s[0], s[1], 1 / Z)
    np.testing.assert_allclose([u, v], seen[:2] / seen[2], rtol=1e-12)
    assert z == pytest.approx(seen[2] / Z)
    assert z > 0


def test_a_point_behind_the_other_camera_has_negative_depth() -> None:
    K = np.array([[100.0, 0, 0], [0, 100, 0], [0, 0, 1]])
    ahead = Camera.of(K, np.eye(3), [0, 0, -5])  # five units further on
    M, m = ahead.relative_to(Camera.of(K, np.eye(3), [0, 0, 0]))
    assert project(M, m, 3.0, 4.0, 1 / 2)[2] < 0 < project(M, m, 3.0, 4.0, 1 / 8)[2]


def test_coupling_is_its_finite_difference_definition(rng: np.random.Generator) -> None:
    """c = (dx/ds at fixed w)^-1 dx/dw, x where the pixel s is seen."""
    M, m = camera(rng).relative_to(camera(rng))
    x, y, w, h = 30.0, 55.0, 0.3, 1e-4

    def seen(x: float, y: float, w: float) -> np.ndarray:
        return np.array(project(M, m, x, y, w)[:2])

    along_x = (seen(x + h, y, w) - seen(x - h, y, w)) / (2 * h)
    along_y = (seen(x, y + h, w) - seen(x, y - h, w)) / (2 * h)
    along_w = (seen(x, y, w + h) - seen(x, y, w - h)) / (2 * h)
    expected = np.linalg.solve(np.stack([along_x, along_y], axis=1), along_w)
    np.testing.assert_allclose(coupling(M, m, *seen(x, y, w)), expected, rtol=1e-5, atol=1e-5)


def test_the_warped_image_moves_along_the_coupling(rng: np.random.Generator) -> None:
    """Pixel s + c dw at w sees what pixel s sees at w + dw, to first order."""
    M, m = camera(rng).relative_to(camera(rng))
    s, w, dw = np.array([30.0, 55.0]), 0.3, 1e-4
    c = np.array(coupling(M, m, *project(M, m, *s, w)[:2]))
    before, after = project(M, m, *s, w)[:2], project(M, m, *s, w + dw)[:2]
    moved = project(M, m, *(s + c * dw), w)[:2]
    assert np.linalg.norm(np.subtract(moved, after)) < 1e-2 * np.linalg.norm(np.subtract(before, after))


def test_planar_array_is_the_papers_case() -> None:
    B = np.array([[-1.0, 0.0], [2.0, -3.0]])
    for Mt, mt, Bt in zip(*planar(B), B, strict=True):
        u, v, z = project(Mt, mt, 10.0, 20.0, 0.5)
        assert (u, v, z) == (10 + Bt[0] * 0.5, 20 + Bt[1] * 0.5, 1)
        assert coupling(Mt, mt, u, v) == tuple(Bt)
        assert is_planar(Mt, mt)
        np.testing.assert_array_equal(baseline(Mt, mt, (50, 60)), Bt)


def test_parallel_cameras_are_planar_with_the_baseline_against_the_movement() -> None:
    K = np.array([[200.0, 0, 31.5], [0, 200, 23.5], [0, 0, 1]])
    right = Camera.of(K, np.eye(3), [-0.1, 0, 0])  # x = K (X - 0.1): stands 0.1 to the right
    M, m = right.relative_to(Camera.of(K, np.eye(3), np.zeros(3)))
    np.testing.assert_allclose(M, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(baseline(M, m, (48, 64)), [-20, 0], atol=1e-9)


def test_a_step_off_the_plane_is_not_planar() -> None:
    (M,), (m,) = planar([[1.0, 0.0]])
    assert not is_planar(M, m + np.array([0, 0, 1e-3]))
    assert not is_planar(M + 1e-6, m)


def test_the_cameras_common_world_frame_does_not_matter(rng: np.random.Generator) -> None:
    one, two = camera(rng), camera(rng)
    turn, shift = rotation(rng, 70), rng.normal(size=3)
    moved = [Camera.of(c.K, c.R @ turn, c.t + c.R @ shift) for c in (one, two)]
    for got, expected in zip(moved[1].relative_to(moved[0]), two.relative_to(one), strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-9)


def test_baseline_ignores_the_rotation_and_follows_the_position() -> None:
    """c lives in the reference's frame, so a turn of the other camera alone leaves it as it is."""
    rng = np.random.default_rng(0)
    K = np.array([[200.0, 0, 31.5], [0, 200, 23.5], [0, 0, 1]])
    reference, position = Camera.of(K, np.eye(3), np.zeros(3)), np.array([0.1, -0.2, 0.0])
    R = rotation(rng, 5)
    turned = baseline(*Camera.of(K, R, -R @ position).relative_to(reference), (48, 64))
    np.testing.assert_allclose(turned, -200 * position[:2], rtol=1e-9)


def test_baseline_of_a_forward_step_has_a_length_and_of_a_blind_camera_none() -> None:
    K = np.array([[200.0, 0, 31.5], [0, 200, 23.5], [0, 0, 1]])
    reference = Camera.of(K, np.eye(3), np.zeros(3))
    forward = baseline(*Camera.of(K, np.eye(3), [0, 0, -0.1]).relative_to(reference), (48, 64))
    assert 0.5 < np.hypot(*forward) < 4  # 0.1 x the root-mean-square distance from the centre, 24 pixels
    back = np.diag([-1.0, 1.0, -1.0])
    assert np.isnan(baseline(*Camera.of(K, back, [0.1, 0, 0]).relative_to(reference), (48, 64))).all()


GOOD = {"K": np.diag([100.0, 100, 1]), "R": np.eye(3), "t": np.zeros(3)}


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("K", np.eye(2), "K must be"),
        ("t", [1.0, 2.0], "t must be"),
        ("t", [1.0, 2.0, np.nan], "finite"),
        ("R", [["a", "b", "c"]] * 3, "R is not an array of numbers"),
        ("R", [[1, 0], [0, 1, 0], [0, 0, 1]], "R is not an array of numbers"),
        ("R", 1.01 * np.eye(3), "not a rotation"),
        ("R", 2 * np.eye(3), "not a rotation"),
        ("R", np.diag([1.0, 1.0, -1.0]), "not a rotation"),
        ("K", np.diag([100.0, 100, 2]), "intrinsic"),
        ("K", np.diag([0.0, 100, 1]), "intrinsic"),
    ],
)
def test_invalid_cameras_are_refused_by_name(field: str, value: object, said: str) -> None:
    with pytest.raises(InputError, match=f"^left.png: .*{said}"):
        Camera.of(**{**GOOD, field: value}, name="left.png")
    with pytest.raises(InputError, match=f"^camera: .*{said}"):
        Camera(**{**GOOD, field: value})


def test_a_camera_takes_lists() -> None:
    lists = Camera(*(GOOD[field].tolist() for field in "KRt"))
    assert lists == Camera(**GOOD)
    np.testing.assert_array_equal(lists.relative_to(Camera(GOOD["K"], GOOD["R"], [1, 0, 0]))[1], [-100, 0, 0])


@pytest.mark.parametrize("decimals", [3, 4, 6])
def test_rotations_may_be_rounded(rng: np.random.Generator, decimals: int) -> None:
    for degrees in rng.uniform(0, 180, 200):
        Camera(**{**GOOD, "R": rotation(rng, degrees).round(decimals)})


def test_cameras_are_equal_if_their_numbers_are(rng: np.random.Generator) -> None:
    one = camera(rng)
    twin = Camera(one.K.tolist(), one.R.copy(), one.t)
    assert one == twin
    assert hash(one) == hash(twin)
    assert Camera(GOOD["K"], GOOD["R"], [0, -0.0, 0]) == Camera(**GOOD)
    others = [camera(rng), Camera(one.K, one.R, one.t + 1e-9), "a camera"]
    assert all(one != other for other in others)
    assert {one: "left", others[0]: "right"}[twin] == "left"
    for part in (one.K, one.R, one.t):
        with pytest.raises(ValueError, match="read-only"):
            part[0] = 1
