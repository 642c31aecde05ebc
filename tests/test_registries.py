"""To add an engine or a method takes one module and one line in a registry; nothing else knows their names."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gradcon

ENGINE = """
from gradcon.engines.device import Host
from gradcon.engines.reference import ReferenceEngine
from gradcon.engines.reference_sweep import ReferenceSweep


class Abacus(ReferenceEngine):
    name = "abacus"


def create(scene, epsilon, after=None, choices=None):
    return Abacus(scene, epsilon)


def create_sweep(views):
    return ReferenceSweep(views)


def why_not(scene=None, stages=(), after=None, choices=None):
    return None


def current_device():
    return Host()
"""

METHOD = """
import numpy as np

from gradcon.engines import Clock, create
from gradcon.result.stopped import Stopped, StopReason


class Guess:  # the same disparity everywhere, without a single solve
    def __init__(self, scene, engine):
        self.engine, self.clock, self.history = engine, Clock(engine.device), []
        self.w, self.stopped = engine.upload(np.ones(scene.shape)), Stopped.because(StopReason.CALLBACK, solves=0)

    def maps(self):
        return self.w.astype(np.float32), np.zeros(self.w.shape, np.float32)

    def weights(self):
        return None

    def choices(self):
        return {"luck": 7}


def minimise(scene, options, *, initial=None, engine="auto", look=None, **more):
    return Guess(scene, create(engine, scene, options.epsilon, ()) if isinstance(engine, str) else engine)
"""

ESTIMATES = """
from gradcon import Options, estimate, estimate_many, synth

scene, options = synth.render("planes", (24, 24), grid=3), Options(method="guess")
one = estimate(scene, options, engine="abacus", check_directions=False)
(same,) = estimate_many([scene], options, engine="abacus", check_directions=False)
assert (one.disparity == same.disparity).all()
print(one.engine, one.parameters["method"], one.parameters["luck"], one.disparity.mean())
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with an engine and a method more."""
    path = tmp_path_factory.mktemp("path")
    package = path / "gradcon"
    shutil.copytree(Path(gradcon.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "engines" / "abacus.py").write_text(ENGINE)
    (package / "methods" / "guess.py").write_text(METHOD)
    add_line(package / "engines" / "registry.py", "for kind in (", 'EngineKind("abacus", "gradcon.engines.abacus"),')
    add_line(package / "methods" / "registry.py", "for method in (", 'Method("guess", "gradcon.methods.guess"),')
    return path


def add_line(registry: Path, after: str, line: str) -> None:
    text = registry.read_text()
    assert text.count(after) == 1
    registry.write_text(text.replace(after, f"{after}\n        {line}"))


def run(path: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(path)}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_added_engine_and_an_added_method_estimate(path: Path) -> None:
    assert run(path, "-c", ESTIMATES).split() == ["abacus", "guess", "7", "1.0"]


def test_the_command_line_offers_them(path: Path) -> None:
    said = run(path, "-m", "gradcon", "estimate", "--help")
    assert "auto, abacus, cuda" in said
    assert "guess, sweep" in said
