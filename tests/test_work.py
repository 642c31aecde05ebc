"""A solve of `cpu` does no more work than it did: no clock is read, so a busy or slow computer changes nothing.

`count_work.py` counts what a solve does in a process of its own; work_limits.json holds the counts at which they are
kept.  If a change does less work, `python tests/count_work.py > tests/work_limits.json` makes these the new limits.
Where it is meaningful, the limits are ratios to the engine `reference`.
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import platform
import re
import subprocess
import sys
import textwrap
import tracemalloc
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest

import count_work
from conftest import CHECKOUT
from gradcon import engines
from gradcon.bench.scenes import make_scene
from gradcon.bench.solves import prepare
from gradcon.engines.cpu import row_filters, row_model, rows
from gradcon.methods.options import PAPER_EPSILON

pytestmark = pytest.mark.slow

LIMITS: dict[str, dict[str, float]] = json.loads((CHECKOUT / "tests" / "work_limits.json").read_text(encoding="utf-8"))
ROOM = 1.05  # the solver may need one iteration more or less with another NumPy, which moves its counts a little
SLACK = 0.75  # a limit that is so much too high guards nothing

ALLOCATED = 6.0  # bytes per pixel that Python allocates for a solve: the new disparity has 4
ALLOCATED_TO_REFERENCE = 0.004
MEMORY_TO_REFERENCE = 0.17  # what an engine holds, and allocates for a solve
ITERATIONS = 6  # of the linear solver, in the middle of a run

VECTOR = re.compile(r"store <\d+ x float>")


@pytest.fixture(scope="module")
def counted() -> dict[str, dict[str, float]]:
    command = [sys.executable, str(CHECKOUT / "tests" / "count_work.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("what", LIMITS)
def test_a_solve_does_no_more_than_it_did(counted: dict[str, dict[str, float]], what: str) -> None:
    """Each count catches a way to become slower:

    launches    a kernel is split, or called for each view or scale from Python
    arithmetic  filters get longer, something is computed twice, or a filter runs where none is needed; the solver's
                is per inner iteration, so that a more expensive V-cycle shows
    accesses    fused loops are torn apart, and pass their values through memory
    allocated   a compiled function makes a new array in every solve
    ratios      the data term against the filters of `reference`, whose taps are those of the model; the cost of twice
                the views, and of six scales instead of three (on so small a scene, much of it is margins)
    """
    assert counted[what].keys() == LIMITS[what].keys()
    for name, limit in LIMITS[what].items():
        found = counted[what][name]
        assert found <= ROOM * limit, f"{what}, {name}: {found}, which is more than {limit}"
        assert found >= SLACK * limit, f"{what}, {name}: only {found}; lower the limit of {limit} (see above)"


SUM = """
def total(a, n, twice):
    'Add up.'
    s = 0
    for i in range(n):
        s += a[i + 1] * 2
    if twice:
        s = 2 * s
    return s
"""


def test_the_counter_counts_what_is_executed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count_work, "counts", {"arithmetic": 0, "accesses": 0})
    names: dict[str, Any] = {"__count__": count_work.count}
    exec(ast.unparse(count_work.Instrument().visit(ast.parse(SUM))), names)
    assert names["total"].__doc__ == "Add up."
    assert names["total"](np.ones(8), 7, False) == 14
    assert count_work.counts == {"arithmetic": 14, "accesses": 7}  # the index does not count
    assert names["total"](np.ones(8), 0, True) == 0
    assert count_work.counts == {"arithmetic": 15, "accesses": 7}


def arrays_in(thing: Any, seen: set[int]) -> Iterator[np.ndarray]:
    """Find the arrays that own the memory behind an engine, wherever it keeps them."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        if isinstance(thing.base, np.ndarray):
            yield from arrays_in(thing.base, seen)
        else:
            yield thing
    elif isinstance(thing, dict):
        for value in thing.values():
            yield from arrays_in(value, seen)
    elif isinstance(thing, tuple | list):
        for value in thing:
            yield from arrays_in(value, seen)
    elif type(thing).__module__.startswith("gradcon"):
        yield from arrays_in(vars(thing), seen)


class Solve:
    """A solve of an engine from a disparity in the middle of a run, and the bytes that it needs."""

    def __init__(self, engine: Any, w: Any, stage: Any) -> None:
        engine.step(w, stage)  # whatever is made only once
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            self.report = engine.step(w, stage).report
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        self.allocated = peak - before
        self.held = sum(array.nbytes for array in arrays_in(engine, set()))


@pytest.fixture(scope="module")
def solves() -> Iterator[dict[str, Solve]]:
    threads = numba.get_num_threads()
    numba.set_num_threads(1)  # each thread has a table of its own
    scene = make_scene(256, 8, 4)
    fast = prepare("cpu", scene, 3)
    slow = engines.create("reference", scene, PAPER_EPSILON, [fast.stage])
    there = slow.upload(fast.engine.download(fast.w))
    yield {"cpu": Solve(fast.engine, fast.w, fast.stage), "reference": Solve(slow, there, fast.stage)}
    numba.set_num_threads(threads)


def test_a_solve_allocates_next_to_nothing(solves: dict[str, Solve]) -> None:
    """Catches an array that Python makes in every solve; pages that are new to the process are slow to touch."""
    assert solves["cpu"].allocated <= ALLOCATED * 256 * 256
    assert solves["cpu"].allocated <= ALLOCATED_TO_REFERENCE * solves["reference"].allocated


def test_an_engine_needs_little_memory(solves: dict[str, Solve]) -> None:
    """Catches whole fields for each view and scale that are kept instead of tiles that stay in cache."""
    needed = {name: solve.held + solve.allocated for name, solve in solves.items()}
    assert needed["cpu"] <= MEMORY_TO_REFERENCE * needed["reference"], needed


def test_the_solver_needs_few_iterations(solves: dict[str, Solve]) -> None:
    """Catches a preconditioner that got worse; `test_reference.py` compares it with a plain one."""
    assert solves["cpu"].report.inner_iterations <= ITERATIONS


def loops_in(module: ModuleType) -> dict[str, tuple[Any, ...]]:
    """Find the compiled functions that are nothing but a loop over pointers, and the types of their arguments."""
    found = {}
    for name, function in vars(module).items():
        if not hasattr(function, "py_func") or function.py_func.__module__ != module.__name__:
            continue
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(function.py_func))).body
        assert isinstance(definition, ast.FunctionDef)
        body = definition.body[ast.get_docstring(definition) is not None :]
        if len(body) != 1 or not isinstance(body[0], ast.For):
            continue
        subscripts = [node for node in ast.walk(body[0]) if isinstance(node, ast.Subscript)]
        pointers = {names_in(node.value) for node in subscripts}
        whole = names_in(body[0].iter).union(*(names_in(node.slice) for node in subscripts))
        found[name] = tuple(
            numba.types.CPointer(numba.float32)
            if {argument.arg} in pointers
            else numba.intp
            if argument.arg in whole
            else numba.float32
            for argument in definition.args.args
        )
    return found


def names_in(node: ast.AST) -> frozenset[str]:
    return frozenset(inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name))


def is_vector_code(function: Any, signature: tuple[Any, ...]) -> bool:
    """Compile a loop anew, because the cache keeps no readable code, and see if it stores several numbers at once."""
    again = numba.njit(**{**rows.OPTIONS, "cache": False})(function.py_func)
    again.compile(signature)
    (code,) = again.inspect_llvm().values()
    return bool(VECTOR.search(code))


@pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64", "arm64", "aarch64"), reason="unknown processor"
)
def test_the_innermost_loops_become_vector_code() -> None:
    """Catches a loop that the compiler no longer turns into vector code, which makes it four to eight times slower."""
    loops = {(module, name): kinds for module in (row_filters, row_model) for name, kinds in loops_in(module).items()}
    assert len(loops) >= 3
    scalar = [name for (module, name), kinds in loops.items() if not is_vector_code(getattr(module, name), kinds)]
    assert scalar == []
