"""The guide on wrong maps quotes what gradcon says, and its cures work."""

from __future__ import annotations

import re
import sys
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import CHECKOUT
from gradcon import Result
from gradcon.result.facts import facts_of

pytestmark = pytest.mark.slow

GUIDE = CHECKOUT / "docs" / "guide" / "wrong-maps.md"
QUOTED = {"exposures": ("cured", "images"), "noise": ("wrong", "uncertainty"), "no-texture": ("wrong", "uncertainty"),
          "far-start": ("wrong", "range")}  # cases without a warning, and the line that tells  # fmt: skip
NAMES = ["columns-reversed", "axes-exchanged", "near-and-far", "exposures", "out-of-place", "noise", "copies", "tiles",
         "no-texture", "far-start"]  # fmt: skip


@pytest.fixture(scope="module")
def script() -> ModuleType:
    sys.path.insert(0, str(CHECKOUT / "docs" / "images"))
    try:
        import wrong_maps
    finally:
        sys.path.pop(0)
    return wrong_maps


def words(text: str) -> str:
    """Return a text without line breaks and the marks of quotations; numbers, which engines round, become #."""
    plain = re.sub(r"^> ", "", text, flags=re.MULTILINE).replace("<br>", "")
    return re.sub(r"\d+(\.\d+)?", "#", " ".join(plain.split()))


def test_every_case_has_its_picture(script: ModuleType) -> None:
    assert list(script.CASES) == NAMES
    shown = re.findall(r"images/wrong/([\w-]+)\.png", GUIDE.read_text(encoding="utf-8"))
    assert shown == NAMES
    assert {path.stem for path in script.FOLDER.glob("*.png")} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_guide_quotes_gradcon_and_the_cure_works(name: str, script: ModuleType) -> None:
    case, guide = script.CASES[name](), words(GUIDE.read_text(encoding="utf-8"))
    wrong, cured = script.results(case)
    for text in wrong.warnings:
        assert words(f"WARNING: {text}") in guide
    assert not cured.warnings
    if name in QUOTED:
        which, label = QUOTED[name]
        facts = dict(facts_of(wrong if which == "wrong" else cured))
        assert words(f"{label} {facts[label]}") in guide
    else:
        assert wrong.warnings
    truth = script.photos().ground_truth if name == "tiles" else case.cured.ground_truth
    assert rmse(cured, truth) < 0.6 * rmse(wrong, truth)


def rmse(result: Result, truth: NDArray[np.float32]) -> float:
    return float(np.sqrt(np.mean((result.disparity - truth) ** 2)))
