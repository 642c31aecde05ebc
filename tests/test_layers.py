"""Imports point one way: a package may import what lies below it, and nothing above."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import gradcon

ROOT = Path(gradcon.__file__).parent
BASE = {"arrays", "damage", "errors", "extras", "files", "identity", "npz", "progress"}  # what everything may use
BASE_PACKAGES = {"files"}  # those of them that are folders

# Each package, and the packages that it may import besides itself and BASE.
LAYERS = {
    "isolated": set(),
    "scene": set(),
    "engines": {"scene"},
    "lens": {"engines", "scene"},
    "io": {"isolated", "lens", "scene"},
    "pictures": {"io", "scene"},
    "result": {"io", "pictures", "scene"},
    "methods": {"engines", "io", "result", "scene"},
    "synth": {"io", "scene"},
    "rendering": {"engines", "io", "pictures", "result", "scene"},
    "judging": {"methods", "rendering", "result", "scene"},
    "fusion": {"io", "result", "scene"},
    "report": {"fusion", "io", "pictures", "result", "scene"},
    "jobs": set(),
    "batch": {"engines", "io", "jobs", "methods", "pictures", "report", "result", "scene"},
    "experiments": {"engines", "io", "jobs", "judging", "methods", "pictures", "result", "scene", "synth"},
    "bench": {"engines", "experiments", "io", "jobs", "methods", "scene", "synth"},
    "cli": {
        "batch", "bench", "engines", "experiments", "fusion", "io", "judging", "methods", "pictures", "rendering",
        "report", "result", "scene", "synth",
    },
}  # fmt: skip

# A method that draws may import the package that draws when it is called, although that stands above its own.
LATE = {Path("scene/shown.py"): {"pictures"}}


def imported(path: Path) -> set[str]:
    """Return the parts of gradcon that a file imports, wherever it does so; the version does not count."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module == "gradcon":
            names = [f"gradcon.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [node.module]
        for name in names:
            if name.split(".")[0] == "gradcon":
                found.add([*name.split("."), ""][1])
    return found - {"__version__"}


def files() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def test_the_packages_are_known_and_acyclic():
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    modules = {path.stem for path in ROOT.glob("*.py")} - {"__init__", "__main__"}
    assert packages == set(LAYERS) | BASE_PACKAGES
    assert modules == BASE - BASE_PACKAGES
    below: set[str] = set()
    for name, may_import in LAYERS.items():  # from low to high
        assert may_import <= below, f"{name} may import what stands above it"
        below.add(name)


def test_imports_point_down():
    wrong = []
    for path in files():
        parts = path.relative_to(ROOT).parts
        where = parts[0].removesuffix(".py")
        if where in ("__init__", "__main__"):
            continue  # the public face
        allowed = BASE if where in BASE else BASE | LAYERS[where] | {where}
        allowed = allowed | LATE.get(path.relative_to(ROOT), set())
        public = {name for name in imported(path) if name not in LAYERS and name not in BASE}
        if where not in ("cli", "batch", "bench", "experiments"):  # those stand above the public face
            wrong += [f"{path.relative_to(ROOT)} imports the public face" for _ in public]
        wrong += [f"{path.relative_to(ROOT)} imports {name}" for name in imported(path) - public if name not in allowed]
    assert wrong == []


def test_the_lowest_modules_import_none_of_the_packages():
    for path in [*ROOT.glob("*.py"), *(path for name in BASE_PACKAGES for path in ROOT.glob(f"{name}/*.py"))]:
        if path.name not in ("__init__.py", "__main__.py") or path.parent.name in BASE_PACKAGES:
            assert imported(path) <= BASE


def test_late_imports_wait_until_they_are_needed():
    for path, packages in LATE.items():
        program = f"import sys, gradcon.{path.parts[0]}; print([n for n in sys.modules if n.startswith('gradcon.')])"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert f"gradcon.{path.parts[0]}.{path.stem}" in done.stdout
        assert not [name for name in packages if f"gradcon.{name}" in done.stdout]
