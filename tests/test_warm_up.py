"""What is compiled ahead of time is what an estimate of photographs needs."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

from gradcon import Options, Scene, estimate
from gradcon.methods.warm_up import compile_engine


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The functions that Numba compiles, or loads from its cache, from now on."""
    found: list[str] = []
    dispatcher: Any = numba.core.dispatcher.Dispatcher
    compile_ = dispatcher.compile

    def noted(self: Any, signature: Any) -> Any:
        found.append(f"{self.py_func.__module__}.{self.py_func.__name__}{signature}")
        return compile_(self, signature)

    monkeypatch.setattr(dispatcher, "compile", noted)
    return found


@pytest.mark.parametrize("method", ["sweep", "gcm"])
def test_nothing_is_left_to_compile(method: str, compiled: list[str]) -> None:
    compile_engine("cpu", method)
    compiled.clear()
    pixels = np.random.default_rng(1).integers(0, 256, (5, 40, 48, 3), dtype=np.uint8)
    scene = Scene(pixels[0], pixels[1:], [(1, 0), (0, 1), (-1, 0), (0, -1)])
    options = Options(method, solves=3) if method == "gcm" else Options(method)
    estimate(scene, options, engine="cpu", check_directions=False)
    assert compiled == []
