"""Counts what one solve does, without a clock; `tests/test_work.py` compares the counts with work_limits.json.

    python tests/count_work.py > tests/work_limits.json     makes the present counts the limits

The engine `cpu` runs as plain Python on a tiny scene: `njit` only counts calls here, pointers to rows are NumPy arrays,
and every block of the source of the compiled modules first adds how much it does to a counter.  So the counts do not
depend on the processor, on the compiler, or on the versions of NumPy and Numba.  They are numbers of

    launches    calls of compiled functions from Python
    arithmetic  additions, multiplications, comparisons and so on; not those inside an index, which cost nothing
    accesses    elements read or written
    allocated   bytes of arrays made inside compiled functions

An operation on a whole array (`line[:] = 0`) counts once, because the hot loops have none.
"""

from __future__ import annotations

import ast
import ctypes
import functools
import importlib.abc
import importlib.machinery
import json
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import ndimage

COUNTED = ("gradcon.engines.cpu", "gradcon.engines.model", "gradcon.scene.geometry")
BLOCKS = (ast.FunctionDef, ast.For, ast.While, ast.If)
FAR = 1 << 20  # elements on either side of a pointer: more than any row has
MAKERS = ("empty", "zeros", "ones", "full", "empty_like", "zeros_like", "ones_like", "full_like")

counts = {"launches": 0, "arithmetic": 0, "accesses": 0, "allocated": 0}
depth = 0  # of calls of compiled functions


def count(arithmetic: int, accesses: int) -> None:
    counts["arithmetic"] += arithmetic
    counts["accesses"] += accesses


class Instrument(ast.NodeTransformer):
    """Lets each block of a function say how much it does, whenever it runs."""

    def __init__(self) -> None:
        self.inside = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.inside += 1
        self.generic_visit(node)
        self.inside -= 1
        node.body = told(node.body)
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        return self.block(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self.block(node)

    def visit_If(self, node: ast.If) -> ast.AST:
        return self.block(node)

    def block(self, node: Any) -> ast.AST:
        self.generic_visit(node)
        if self.inside:
            node.body = told(node.body)
            node.orelse = told(node.orelse) if node.orelse else []
        return node


def told(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the block with a first statement that counts what its own statements do, without those of inner blocks."""
    arithmetic = accesses = 0
    waiting: list[ast.AST] = [one for one in body if not isinstance(one, BLOCKS)]
    for inner in body:
        if isinstance(inner, ast.For):
            waiting.append(inner.iter)
        elif isinstance(inner, ast.While | ast.If):
            waiting.append(inner.test)
    while waiting:
        node = waiting.pop()
        arithmetic += isinstance(node, ast.BinOp | ast.AugAssign | ast.Compare | ast.UnaryOp)
        accesses += isinstance(node, ast.Subscript)
        waiting += [node.value] if isinstance(node, ast.Subscript) else ast.iter_child_nodes(node)
    call = ast.parse(f"__count__({arithmetic}, {accesses})").body
    first = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)  # a docstring stays in front
    return [*body[:first], *call, *body[first:]]


class Loader(importlib.machinery.SourceFileLoader):
    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> Any:  # type: ignore[override]
        tree = ast.fix_missing_locations(Instrument().visit(ast.parse(data)))
        return compile(tree, path, "exec", dont_inherit=True)

    def get_code(self, fullname: str) -> Any:
        return self.source_to_code(self.get_data(self.get_filename(fullname)), self.get_filename(fullname))

    def exec_module(self, module: Any) -> None:
        module.__count__ = count
        super().exec_module(module)
        if hasattr(module, "row") and module.__name__ == "gradcon.engines.cpu.rows":
            module.row = Pointer


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        spec = importlib.machinery.PathFinder.find_spec(name, path) if name.startswith(COUNTED) else None
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = Loader(spec.loader.name, spec.loader.path)
        return spec


class Pointer:
    """array[i, x] and what lies before and behind it in memory; like a pointer, it checks no bounds."""

    __slots__ = ("memory",)

    def __init__(self, array: Any, i: int, x: int) -> None:
        address = array.ctypes.data + int(i) * array.strides[0] + int(x) * array.strides[1]
        around = (ctypes.c_char * (2 * FAR * array.itemsize)).from_address(address - FAR * array.itemsize)
        self.memory = np.frombuffer(around, array.dtype)

    def __getitem__(self, i: int) -> Any:
        return self.memory[FAR + i]

    def __setitem__(self, i: int, value: Any) -> None:
        self.memory[FAR + i] = value


def uncompiled(function: Callable[..., Any] | None = None, **_: Any) -> Any:
    """Stand in for `numba.njit`."""
    if not callable(function):
        return uncompiled

    @functools.wraps(function)
    def called(*arguments: Any) -> Any:
        global depth  # noqa: PLW0603
        counts["launches"] += depth == 0
        depth += 1
        try:
            return function(*arguments)
        finally:
            depth -= 1

    called.py_func = function  # type: ignore[attr-defined]
    return called


def maker(make: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(make)
    def made(*arguments: Any, **more: Any) -> Any:
        array = make(*arguments, **more)
        counts["allocated"] += array.nbytes * (depth > 0)
        return array

    return made


class Counter:
    """Stands in for a clock: notes what each part of a step does."""

    def __init__(self) -> None:
        self.parts: dict[str, dict[str, int]] = {}

    def __call__(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        before = dict(counts)
        value = function(*arguments)
        self.parts[name] = {what: counts[what] - before[what] for what in counts}
        return value


def prepare() -> None:
    """Replace the compiler, before any module of the engine is imported."""
    os.environ["NUMBA_NUM_THREADS"] = "1"  # so that a kernel is called once
    import numba

    numba.njit = uncompiled
    for name in MAKERS:
        setattr(np, name, maker(getattr(np, name)))
    sys.meta_path.insert(0, Finder())


def step_of(scene: Any, scales: int) -> tuple[dict[str, dict[str, int]], int]:
    """Return the counts of the second solve of `cpu` by part, and its inner iterations."""
    from gradcon import engines
    from gradcon.methods import schedules
    from gradcon.methods.options import PAPER_EPSILON

    (stage, *_) = stages = schedules.build("gcm", scene.baselines, 0.5, scales)
    engine = engines.create("cpu", scene, PAPER_EPSILON, stages)
    w = engine.upload(np.zeros(scene.shape, np.float32))
    w = engine.step(w, stage, reweight=False).w
    counter = Counter()
    step = engine.step(w, stage, clock=counter)
    return counter.parts, step.report.inner_iterations


def reference_taps(scene: Any, scales: int) -> int:
    """Return the multiply-adds of the filters in a data term of `reference`."""
    from gradcon import engines
    from gradcon.methods import schedules
    from gradcon.methods.options import PAPER_EPSILON

    (stage, *_) = stages = schedules.build("gcm", scene.baselines, 0.5, scales)
    engine = engines.create("reference", scene, PAPER_EPSILON, stages)
    w, taps, correlate = engine.upload(np.zeros(scene.shape)), 0, ndimage.correlate1d

    def counted(image: Any, weights: Any, *arguments: Any, **more: Any) -> Any:
        nonlocal taps
        taps += image.size * len(weights)
        return correlate(image, weights, *arguments, **more)

    warped = engine.warp(w, stage)
    ndimage.correlate1d = counted
    try:
        engine.data_term(w, warped, stage, True)
    finally:
        ndimage.correlate1d = correlate
    return taps


def counted_work() -> dict[str, Any]:
    """Return the counts, per pixel of the scene, and the ratios of which the tests guard the growth."""
    from gradcon.bench.scenes import make_scene

    small, more = make_scene(32, 4, 2), make_scene(32, 8, 4)
    parts, iterations = step_of(small, 3)
    twice, _ = step_of(more, 3)
    six, _ = step_of(small, 6)
    pixels = small.shape[0] * small.shape[1]
    taps = reference_taps(small, 3)
    return {
        "launches": {part: found["launches"] for part, found in parts.items()},
        "arithmetic_a_pixel": {
            part: round(found["arithmetic"] / pixels / (iterations if part == "solve" else 1), 1)
            for part, found in parts.items()
        },
        "accesses_a_pixel": {
            part: round(found["accesses"] / pixels / (iterations if part == "solve" else 1), 1)
            for part, found in parts.items()
        },
        "allocated_a_pixel": {part: round(found["allocated"] / pixels, 2) for part, found in parts.items()},
        "ratios": {
            "data_term_to_taps_of_reference": round(parts["data_term"]["arithmetic"] / taps, 4),
            "twice_the_views": round(twice["data_term"]["arithmetic"] / parts["data_term"]["arithmetic"], 3),
            "six_scales_to_three": round(six["data_term"]["arithmetic"] / parts["data_term"]["arithmetic"], 3),
        },
    }


if __name__ == "__main__":
    prepare()
    with np.errstate(all="ignore"):
        print(json.dumps(counted_work(), indent=2))
