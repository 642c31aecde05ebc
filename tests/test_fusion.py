"""Maps of several views become one cloud: on the true surfaces, each surface in one layer, without what is wrong."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from fusion_cases import Case, array_of, every_point, exact, flat, noisy, only
from gradcon import FusedCloud, fuse
from gradcon.errors import InputError
from gradcon.fusion.merging import fuse_maps

NOISE = {"sphere": 0.006, "occlusion": 0.004, "rotated": 0.002}  # pixels per unit baseline


@functools.cache
def without_noise(name: str) -> tuple[Case, FusedCloud]:
    case = exact(name)
    return case, fuse_maps(case.maps)


@functools.cache
def with_noise(name: str) -> tuple[Case, FusedCloud]:
    case = noisy(exact(name), NOISE[name])
    return case, fuse_maps(case.maps)


@pytest.mark.parametrize("name", NOISE)
def test_exact_maps_give_exact_points(name: str) -> None:
    case, cloud = without_noise(name)
    error, _ = case.distance(cloud.positions)
    assert np.median(error) < 1e-6
    assert np.quantile(error, 0.99) < 0.005  # beside jumps, where other views confirm a neighbour
    counts = cloud.counts
    dropped = counts.unknown + counts.floating + counts.unsure + counts.unconfirmed + counts.seen_through
    assert counts.points + counts.merged + dropped == counts.pixels == 9 * 96 * 96
    assert dropped < 0.03 * counts.pixels
    assert counts.points == len(cloud) < 1.5 * 96 * 96


@pytest.mark.parametrize("name", NOISE)
def test_95_percent_of_points_are_within_half_a_percent(name: str) -> None:
    case, cloud = with_noise(name)
    error, _ = case.distance(cloud.positions)
    single, _ = case.distance(every_point(only(case, 0)))
    assert np.mean(error < 0.005) > 0.95
    assert np.mean(single < 0.005) < 0.85  # so the views must have been averaged
    assert np.median(error) < 0.5 * np.median(single)


@pytest.mark.parametrize("name", NOISE)
def test_there_are_no_double_walls(name: str) -> None:
    case, cloud = with_noise(name)
    assert case.doubled(every_point(case.maps)) > 0.8
    assert case.doubled(cloud.positions) < 0.015


def test_the_predicted_deviation_holds() -> None:
    case, cloud = with_noise("sphere")
    ball = case.distance(cloud.positions)[1] == 1
    away = np.abs(np.linalg.norm(cloud.positions - case.world.surfaces[1].centre.T, axis=1) - 0.46)
    facing = ball & (np.sum(cloud.normals * cloud.positions, axis=1) < -0.8 * np.linalg.norm(cloud.positions, axis=1))
    assert 0.6 < np.mean(away[facing] < cloud.deviation[facing]) < 0.9  # 68 % if all were independent


def test_normals_are_those_of_the_surface_and_face_the_cameras() -> None:
    case, cloud = without_noise("sphere")
    _, surface = case.distance(cloud.positions)
    wall, ball = case.world.surfaces
    radial = (cloud.positions - ball.centre.T) / ball.radius
    along = np.where((surface == 1)[:, None], radial, -wall.axes[2])
    cosine = np.sum(cloud.normals * along, axis=1)
    assert np.quantile(cosine, 0.1) > 0.99
    assert np.mean(np.sum(cloud.normals * cloud.positions, axis=1) < 0) > 0.99
    assert np.allclose(np.linalg.norm(cloud.normals, axis=1), 1, atol=1e-5)


def test_points_are_weighted_means_in_the_mean_colour() -> None:
    maps = array_of(flat(2.0, 0.01, grey=90), flat(2.03, 0.02, step=1, grey=110))
    cloud = fuse_maps(maps)
    both = cloud.views == 2
    w = (2.0 / 0.01**2 + 2.03 / 0.02**2) / (1 / 0.01**2 + 1 / 0.02**2)
    assert both.sum() == 24 * 22
    assert np.allclose(cloud.positions[both, 2], 100 / w, atol=1e-3)
    assert (cloud.colours[both] == 100).all()
    deviation = (1 / 0.01**2 + 1 / 0.02**2) ** -0.5
    assert np.median(cloud.deviation[both]) == pytest.approx(100 / w**2 * deviation, rel=0.02)


def test_what_other_views_see_through_is_dropped() -> None:
    front = flat(2.0)
    front.disparity[8:14, 8:14] = 3.0  # stands before the wall that all other views see
    cloud = fuse_maps(array_of(front, *(flat(2.0, step=step) for step in (-2, -1, 1, 2))))
    assert cloud.counts.seen_through == 36
    assert np.ptp(cloud.positions[:, 2]) < 1e-3
    assert np.mean(np.abs(cloud.positions[:, :2]).max(axis=1) < 2) > 0  # the other views fill the place


def test_what_no_view_confirms_is_dropped() -> None:
    behind = flat(2.0)
    behind.disparity[8:14, 8:14] = 1.0  # behind a wall that hides it from all other views
    cloud = fuse_maps(array_of(behind, *(flat(2.0, step=step) for step in (-2, -1, 1, 2))))
    assert cloud.counts.unconfirmed >= 36
    assert cloud.counts.seen_through == 0
    assert np.ptp(cloud.positions[:, 2]) < 1e-3


def test_more_views_can_be_required() -> None:
    maps = array_of(flat(2.0), flat(2.0, step=1), flat(2.0, step=-1))
    assert fuse_maps(maps, confirm=2).views.min() == 3
    assert fuse_maps(maps, confirm=1).views.min() == 2


def test_later_views_show_what_the_first_one_cannot_see() -> None:
    case, cloud = without_noise("sphere")
    alone = fuse_maps(only(case, 0), keep=1.0)
    wall = lambda points: int((case.distance(points)[1] == 0).sum())  # noqa: E731
    assert wall(cloud.positions) > 1.05 * wall(alone.positions)


def test_unknown_pixels_are_left_out() -> None:
    first = flat(2.0)
    first.disparity[:4] = np.nan
    first.disparity[4:6] = -1.0  # beyond infinity
    cloud = fuse_maps(array_of(first, flat(2.0, step=1)))
    assert cloud.counts.unknown == 6 * 24
    assert np.isfinite(cloud.positions).all()


def test_pixels_between_two_surfaces_are_dropped() -> None:
    steps = flat(1.0)
    steps.disparity[:, 10], steps.disparity[:, 11:] = 3.0, 5.0
    cloud = fuse_maps(array_of(steps), keep=1.0)
    assert cloud.counts.floating == 24
    assert not np.any(np.isclose(cloud.positions[:, 2], 100 / 3.0))


def test_a_thin_bar_stays() -> None:
    bar = flat(1.0)
    bar.disparity[:, 10] = 5.0
    assert (fuse_maps(array_of(bar), keep=1.0).positions[:, 2] < 25).sum() == 24


def test_a_single_map_keeps_its_surest_pixels() -> None:
    one = flat(2.0)
    one.uncertainty[:] = np.linspace(0.01, 0.02, 24 * 24).reshape(24, 24)
    cloud = fuse_maps(array_of(one))
    assert len(cloud) == np.ceil(0.8 * 24 * 24)
    assert cloud.counts.unsure == 24 * 24 - len(cloud)


def test_the_order_of_other_views_hardly_matters() -> None:
    case = noisy(exact("sphere"), NOISE["sphere"])
    sizes = [len(fuse_maps(only(case, *order))) for order in ((0, 1, 2, 3, 4), (0, 4, 3, 2, 1))]
    assert sizes[0] == pytest.approx(sizes[1], rel=0.01)


def test_a_view_that_shares_nothing_is_refused() -> None:
    with pytest.raises(InputError, match=r"array, view 40: no other view shows anything of what this view shows"):
        fuse_maps(array_of(flat(2.0), flat(2.0, step=1), flat(2.0, step=40)))


def test_an_empty_cloud_is_refused() -> None:
    with pytest.raises(InputError, match=r"array: no point is left: 1,152 unknown"):
        fuse_maps(array_of(flat(np.nan), flat(np.nan, step=1)))
    with pytest.raises(InputError, match=r"no point is left: .*not confirmed by other views"):
        fuse_maps(array_of(flat(2.0), flat(5.0, step=1)))


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "two"])
def test_a_wrong_number_of_views_is_refused(wrong: object) -> None:
    with pytest.raises(InputError, match=r"confirm: .* is not a number of views"):
        fuse_maps(array_of(flat(2.0), flat(2.0, step=1)), confirm=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [[1], "maps", None, [flat(2.0)]])
def test_what_is_no_result_is_refused(wrong: object) -> None:
    with pytest.raises(InputError, match=r"results: a .* is not a Result; give what `estimate`"):
        fuse(wrong)  # type: ignore[arg-type]


def test_the_mesh_is_cut_at_jumps_and_welded() -> None:
    case, cloud = without_noise("sphere")
    mesh = cloud.mesh()
    corners = mesh.positions[mesh.triangles].astype(np.float64)
    surface = case.distance(mesh.positions)[1][mesh.triangles]
    assert np.mean(surface.min(axis=1) != surface.max(axis=1)) < 0.001  # no curtain between the ball and the wall
    edges = np.concatenate([mesh.triangles[:, (k, (k + 1) % 3)] for k in range(3)])
    assert len(np.unique(edges, axis=0)) == len(edges)  # at most one triangle on each side of an edge
    outward = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert np.mean(np.sum(outward * mesh.normals[mesh.triangles[:, 0]], axis=1) > 0) > 0.99
    wall, ball = (_pieces(mesh.triangles[(surface == k).all(axis=1)]) for k in (0, 1))
    assert wall[0] > 0.97 * sum(wall)  # the strips that only later views show hang on to the first one's wall
    assert ball[0] > 0.97 * sum(ball)


def _pieces(triangles: np.ndarray) -> list[int]:
    """Return the sizes of the connected parts, the largest first."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    corners, renumbered = np.unique(triangles, return_inverse=True)
    t = renumbered.reshape(-1, 3)
    links = coo_array((np.ones(2 * len(t)), (np.r_[t[:, 0], t[:, 1]], np.r_[t[:, 1], t[:, 2]])), 2 * (len(corners),))
    return sorted(np.bincount(connected_components(links, directed=False)[1]), reverse=True)


def test_the_mesh_covers_the_surface() -> None:
    maps = array_of(flat(2.0), flat(2.0, step=2))
    mesh = fuse_maps(maps).mesh()
    corners = mesh.positions[mesh.triangles].astype(np.float64)
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum() / 2
    # Each view shows 23 x 23 squares of 0.5 mm; the 4 columns at either end have no other view to confirm them.
    assert area == pytest.approx((23 - 4) * 23 * 0.5**2, rel=1e-5)


def test_a_map_of_single_pixels_has_no_mesh() -> None:
    dots = flat(np.nan)
    dots.disparity[::4, ::4] = 2.0
    cloud = fuse_maps(array_of(dots), keep=1.0)
    with pytest.raises(InputError, match="so there is no mesh; write the points alone"):
        cloud.mesh()
