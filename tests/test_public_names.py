"""The public names: quick to import, complete, documented, and the only ones that the documentation uses."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import gradcon
from conftest import CHECKOUT
from gradcon import synth

PAGES = [CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md", *sorted((CHECKOUT / "docs").rglob("*.md"))]
SCRIPTS = [*sorted((CHECKOUT / "examples").glob("*.py")), *sorted((CHECKOUT / "docs" / "images").glob("*.py"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
DOTTED = re.compile(r"\bgradcon\.([a-z_]+)\.([A-Za-z_]+)")


def name(path: Path) -> str:
    return str(path.relative_to(CHECKOUT))


def programs() -> Iterator[tuple[str, str]]:
    """The Python that a reader sees: blocks of the pages, and whole scripts."""
    for path in PAGES:
        for block in BLOCK.findall(path.read_text(encoding="utf-8")):
            yield name(path), block
    for path in SCRIPTS:
        yield name(path), path.read_text(encoding="utf-8")


def test_every_name_is_there() -> None:
    for public in gradcon.__all__:
        assert getattr(gradcon, public) is not None
        assert public in dir(gradcon)
    assert gradcon.evaluate_confidence is gradcon.evaluate_uncertainty
    with pytest.raises(AttributeError, match="no attribute 'estimates'"):
        gradcon.estimates  # noqa: B018


def test_names_are_imported_when_they_are_used() -> None:
    heavy = "numpy", "scipy", "numba", "matplotlib", "jinja2", "gradcon.scene", "gradcon.io"
    program = f"import sys, gradcon; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("where", "program"), [pytest.param(*found, id=found[0]) for found in programs()])
def test_the_documentation_imports_public_names(where: str, program: str) -> None:
    for node in ast.walk(ast.parse(program)):
        if isinstance(node, ast.Import):
            assert not [alias.name for alias in node.names if alias.name.startswith("gradcon.")]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "gradcon":
            assert node.module == "gradcon", f"{where}: from {node.module} import ..."
            assert {alias.name for alias in node.names} <= set(gradcon.__all__)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "synth":
            assert node.attr in synth.__all__, f"{where}: synth.{node.attr}"


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_the_text_names_public_names(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not [found for found in DOTTED.findall(text) if found[0] not in ("synth", *gradcon.__all__)]


def test_every_name_is_documented() -> None:
    text = (CHECKOUT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^::: gradcon\.(\w+)$", text, re.MULTILINE)
    assert sorted(listed) == sorted(set(gradcon.__all__) - {"evaluate_confidence"})
    assert "evaluate_confidence" in text
    members = re.search(r"^::: gradcon\.synth\n.*?members: \[(.*?)\]", text, re.MULTILINE | re.DOTALL)
    assert members
    assert sorted(members[1].split(", ")) == sorted(synth.__all__)
