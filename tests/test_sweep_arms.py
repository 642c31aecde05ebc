"""The arms of a sweep: views in one direction belong together, wherever the rig points and whatever noise does."""

import numpy as np
import pytest

from gradcon.engines.sweep_views import directions_of

GRID = np.array([(x, y) for y in range(-4, 5) for x in range(-4, 5) if (x, y) != (0, 0)], float)
CROSS = GRID[(GRID == 0).any(axis=1)]
LINE = np.array([[1.0, 0], [-1, 0], [-2, 0], [3, 0]])


def turned(B, degrees):
    turn = np.radians(degrees)
    return B @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])


def together(B):
    """Return which views share an arm."""
    direction = directions_of(B)
    return direction[:, None] == direction


@pytest.mark.parametrize("B", [CROSS, GRID, LINE], ids=["cross", "grid", "line"])
def test_arms_of_regular_rigs_follow_the_axes_and_diagonals(B):
    expected = np.rint(np.arctan2(B[:, 1], B[:, 0]) * 4 / np.pi).astype(int) % 8
    np.testing.assert_array_equal(directions_of(B), expected)


@pytest.mark.parametrize("degrees", [0, 10, 20, 22.5, 24, 45, 67.5, 80])
@pytest.mark.parametrize("seed", range(5))
def test_noise_splits_no_arm_of_a_turned_cross(degrees, seed):
    noise = np.random.default_rng(seed).normal(0, 0.02, CROSS.shape)
    np.testing.assert_array_equal(together(turned(CROSS, degrees) + noise), together(CROSS))


@pytest.mark.parametrize("seed", range(5))
def test_noise_splits_no_arm_of_a_grid(seed):
    noise = np.random.default_rng(seed).normal(0, 0.02, GRID.shape)
    np.testing.assert_array_equal(directions_of(GRID + noise), directions_of(GRID))


def test_arms_do_not_depend_on_the_order_of_the_views():
    rng = np.random.default_rng(1)
    B = rng.normal(size=(30, 2))
    shuffle = rng.permutation(30)
    np.testing.assert_array_equal(directions_of(B[shuffle]), directions_of(B)[shuffle])
