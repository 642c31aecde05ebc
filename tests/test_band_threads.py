"""The data term and the uncertainty give the same bytes in any number of bands."""

from __future__ import annotations

import numpy as np
import pytest

from gradcon import Scene, synth
from gradcon.engines.cpu.engine import CpuEngine
from gradcon.engines.cpu.threads import Threads
from gradcon.methods.schedules import build


def bytes_on(count: int, scene: Scene, scales: int) -> list[bytes]:
    engine = CpuEngine(scene, 2e-4, Threads(count))
    stage = build("gcm", scene.baselines, 0.5, scales)[0]
    w = engine.upload(scene.ground_truth)
    term = engine.data_term(w, engine.warp(w, stage), stage, reweight=True)
    return [plane.tobytes() for plane in (term.diagonal, term.rhs, engine.deviation(w, stage))]


@pytest.mark.parametrize("name", ["occlusion", "rotated"])
@pytest.mark.parametrize("scales", [1, 3, 5])
def test_any_number_of_threads_gives_the_same_bytes(name: str, scales: int) -> None:
    scene = synth.render(name, (61, 72), grid=3)
    alone = bytes_on(1, scene, scales)
    for count in (2, 3, 7):
        assert bytes_on(count, scene, scales) == alone
    assert np.frombuffer(alone[0], np.float32).any()
