"""The inner solver gives the same bytes on any number of threads, at any size."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from gradcon.engines.contract import DataTerm
from gradcon.engines.cpu.multigrid import SMALL, band
from gradcon.engines.cpu.solver import ROWS_A_THREAD, MultigridSolver
from gradcon.engines.cpu.threads import Threads


def system(height: int, width: int) -> tuple[np.ndarray, DataTerm[np.ndarray]]:
    """A disparity with a jump, and a data term that knows nothing in half of the image."""
    rng = np.random.default_rng(height)
    w = rng.normal(0, 0.1, (height, width)).astype(np.float32)
    w[:, width // 2 :] += 2
    diagonal = rng.uniform(0, 1, w.shape).astype(np.float32) ** 4
    diagonal[height // 2 :] = 0
    return w, DataTerm(diagonal, (diagonal * rng.normal(0, 1, w.shape)).astype(np.float32))


@pytest.mark.parametrize("shape", [(2 * ROWS_A_THREAD, 300), (161, 203), (257, 130), (96, 7), (5, 400)])
@pytest.mark.parametrize("smoothness", ["isotropic", "anisotropic"])
def test_any_number_of_threads_gives_the_same_bytes(shape: tuple[int, int], smoothness: str) -> None:
    w, term = system(*shape)
    found = []
    for count in (1, 2, 3, 5):
        solver = MultigridSolver(*shape, Threads(count), smoothness)
        for _ in range(2):  # the second solve starts from the first one's arrays
            x, iterations = solver.solve(w, term, np.float32(0.5), True)
        found.append((x.tobytes(), iterations))
    assert found.count(found[0]) == len(found)
    assert 0 < found[0][1] < 40


def test_the_sizes_above_are_shared_by_several_threads() -> None:
    assert MultigridSolver(161, 203, Threads(5)).chunks == 5
    assert SMALL < 161 * 203


@pytest.mark.parametrize("height", [1, 2, 3, 7, 64, 65])
@pytest.mark.parametrize("chunks", [1, 2, 3, 8])
def test_bands_cover_every_row_once_and_part_no_pair(height: int, chunks: int) -> None:
    bands = [band.py_func(chunk, chunks, height) for chunk in range(chunks)]
    rows = [y for first, end in bands for y in range(first, end)]
    assert rows == list(range(1, height + 1))
    assert all(first % 2 == 1 for first, end in bands)


def test_an_engine_keeps_its_threads_when_numba_is_given_fewer() -> None:
    before = numba.get_num_threads()
    made = Threads()
    numba.set_num_threads(1)
    try:
        assert made.count == before  # a solver that waits for more threads than there are would wait for ever
    finally:
        numba.set_num_threads(before)
