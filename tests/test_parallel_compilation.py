"""The first run compiles in several processes, only what it needs, and copes with whatever goes wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import pytest
from numba.core import caching

from gradcon.engines.cpu import compiling
from gradcon.methods import compilation
from gradcon.methods.kernel_parts import Part, parts_for

KERNELS = 8  # of a default run, each for one set of types

FIRST_RUN = """
import sys
import numba
from numba.core import event
from gradcon import estimate, synth
from gradcon.engines.cpu import parts
from gradcon.methods import compilation

said, compiled = [], []

class Listener(event.Listener):
    def on_start(self, event):
        compiled.append(event.data["dispatcher"].py_func.__name__)
    def on_end(self, event):
        pass

compilation.compile_missing("cpu", "sweep", say=said.append, processes=4)
with event.install_listener("numba:compile", Listener()):
    scene = synth.render("occlusion", (40, 52), grid=3)
    estimate(scene, engine="cpu")
needs = [*parts.views("uint8"), *parts.matching(), *parts.filters(), *parts.directions()]
print(len(said), len(compiled), sum(len(need.kernel.signatures) for need in needs), len(compilation._children))
print(sum(sum(need.kernel.stats.cache_misses.values()) for need in needs))
"""


@pytest.fixture
def nothing_known() -> Iterator[None]:
    """Check everything anew, and leave nothing behind."""
    before = set(compilation._known)
    compilation._known.clear()
    yield
    compilation.stop()
    compilation._known.clear()
    compilation._known.update(before)


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch, nothing_known: None) -> list[str]:
    """Let two parts be missing, and note which of them this process compiles."""
    compiled: list[str] = []
    parts = {name: Part(1.0, lambda: True, lambda name=name: compiled.append(name)) for name in ("one", "two")}
    monkeypatch.setattr(compilation, "parts_for", lambda *_: parts)
    return compiled


@pytest.mark.slow
def test_the_first_run_leaves_nothing_to_compile(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", FIRST_RUN], env=environment, check=True, capture_output=True, text=True
    )
    said, compiled_later, specialisations, children, own = map(int, done.stdout.split())
    assert (said, compiled_later, children) == (1, 0, 0)
    assert specialisations <= KERNELS
    assert own < KERNELS  # other processes have compiled the rest
    assert done.stderr == ""
    again = subprocess.run([sys.executable, "-c", FIRST_RUN], env=environment, check=True, capture_output=True)
    assert again.stdout.split()[:2] == [b"0", b"0"]


def test_a_child_that_dies_does_no_harm(monkeypatch: pytest.MonkeyPatch, missing: list[str]) -> None:
    monkeypatch.setattr(compilation, "CHILD", "raise SystemExit(1)")
    compilation.compile_missing("cpu", "sweep", processes=2)
    assert len(missing) == 1  # the other part is compiled when a run needs it
    assert compilation._children == []


def test_an_interpreter_that_cannot_start_leaves_all_to_this_process(
    monkeypatch: pytest.MonkeyPatch, missing: list[str]
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    compilation.compile_missing("cpu", "sweep", processes=2)
    assert sorted(missing) == ["one", "two"]


def test_one_core_starts_no_child(monkeypatch: pytest.MonkeyPatch, missing: list[str]) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    compilation.compile_missing("cpu", "sweep", processes=1)
    assert sorted(missing) == ["one", "two"]


def test_what_a_run_does_not_need_after_all_is_stopped(monkeypatch: pytest.MonkeyPatch, missing: list[str]) -> None:
    monkeypatch.setattr(compilation, "CHILD", "import time; time.sleep(600)")
    compilation.begin("cpu", "sweep", processes=2)
    (child,) = compilation._children
    monkeypatch.setattr(compilation, "parts_for", lambda *_: {})
    compilation.finish("cpu", "sweep")
    assert child.process.returncode is not None
    assert missing == []


def test_a_child_leaves_with_its_parent() -> None:
    code = "from gradcon.methods.compilation import _leave_with_parent as leave; leave()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as child:
        assert child.stdin is not None
        child.stdin.close()
        assert child.wait(60) == 1


def test_a_line_says_what_happens_and_only_then(missing: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    for _ in range(2):
        compilation.compile_missing("cpu", "sweep", say=said.append, processes=1)
    assert said == ["compiling for this computer, once; about 2 s"]


def test_a_refusal_while_something_compiles_stands_alone(missing: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    compilation.begin("cpu", "sweep", say=said.append, processes=1)
    compilation.stop()  # at the end of the program
    compilation.begin("cpu", "sweep", say=said.append, processes=1)
    assert said == []
    compilation.finish("cpu", "sweep")
    assert said == ["compiling for this computer, once; about 2 s"]


def test_a_gpu_needs_nothing_of_this() -> None:
    assert parts_for("cuda", ["sweep"]) == {}


def add_one(x: Any) -> Any:
    return x + 1


def test_without_a_folder_for_the_cache_kernels_are_compiled_in_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    kernel = compiling.compiled(add_one)
    said: list[str] = []
    with compilation.announced(said.append):
        assert kernel(1) == 2
        assert kernel(1.0) == 2.0
    assert not compiling.is_cachable(kernel)
    assert said == []  # it is no kernel of gradcon


def test_a_change_of_any_source_compiles_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    kernel = compiling.compiled(add_one)
    kernel(1)
    signature = (numba.typeof(1),)
    assert compiling.is_cached(compiling.compiled(add_one), signature)
    monkeypatch.setattr(compiling, "FINGERPRINT", "of other sources")
    assert not compiling.is_cached(compiling.compiled(add_one), signature)


def test_processes_that_compile_one_kernel_for_different_types_keep_their_files_apart(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    first, second = compiling.compiled(add_one), compiling.compiled(add_one)
    names = {kernel._cache._cache_file._data_name(1) for kernel in (first, second)}
    assert len(names) == 2
