"""The package as it is released: the wheel, the source distribution, and one version."""

from __future__ import annotations

import email
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.message import Message
from pathlib import Path

import pytest

import gradcon
from conftest import CHECKOUT

SUFFIXES = {".py", ".cu", ".h", ".js", ".css", ".j2"}
ROOT = f"gradcon-{gradcon.__version__}"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both distributions, built as `make dist` does: without a network."""
    for module in ("build", "hatchling"):
        pytest.importorskip(module, reason="the build tools are missing: install the extra `dev`")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(CHECKOUT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.name for path in folder.iterdir()} == {f"{ROOT}-py3-none-any.whl", f"{ROOT}.tar.gz"}
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(built / f"{ROOT}-py3-none-any.whl") as file:
        return {name: file.read(name) for name in file.namelist()}


@pytest.fixture(scope="module")
def metadata(wheel: dict[str, bytes]) -> Message:
    return email.message_from_bytes(wheel[f"{ROOT}.dist-info/METADATA"])


def source_files() -> dict[str, bytes]:
    """Every file of the package that a user needs, by its name in a wheel."""
    files = (path for path in (CHECKOUT / "src").rglob("*") if path.suffix in SUFFIXES or path.name == "py.typed")
    return {path.relative_to(CHECKOUT / "src").as_posix(): path.read_bytes() for path in files}


def test_the_wheel_holds_the_package_and_nothing_else(wheel: dict[str, bytes]) -> None:
    expected = source_files()
    assert {Path(name).suffix for name in expected} == SUFFIXES | {".typed"}
    packaged = {name: content for name, content in wheel.items() if not name.startswith(f"{ROOT}.dist-info/")}
    assert packaged.keys() == expected.keys()
    assert packaged == expected


def test_metadata(metadata: Message, wheel: dict[str, bytes]) -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert metadata["Name"] == "gradcon"
    assert metadata["Version"] == gradcon.__version__
    assert metadata["Requires-Python"] == project["requires-python"]
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert set(metadata.get_all("Provides-Extra", [])) == set(project["optional-dependencies"])
    needed = {line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line}
    assert needed == set(project["dependencies"])
    assert metadata.get_payload() == (CHECKOUT / "README.md").read_text(encoding="utf-8")
    assert b"gradcon = gradcon.__main__:start" in wheel[f"{ROOT}.dist-info/entry_points.txt"]
    assert wheel[f"{ROOT}.dist-info/licenses/LICENSE"] == (CHECKOUT / "LICENSE").read_bytes()


def test_the_source_distribution_can_be_built_tested_and_documented(built: Path) -> None:
    with tarfile.open(built / f"{ROOT}.tar.gz") as file:
        names = {member.name.removeprefix(f"{ROOT}/") for member in file.getmembers() if member.isfile()}
    listed = subprocess.run(["git", "ls-files"], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    needed = {
        name
        for name in listed.stdout.splitlines()
        if name.startswith(("src/", "tests/", "docs/", "examples/", "benchmarks/"))
        or ("/" not in name and not name.startswith("."))
    }
    assert {"pyproject.toml", "Makefile", "README.md", "CHANGELOG.md", "CITATION.cff"} <= needed
    there = {name for name in needed if (CHECKOUT / name).exists()}  # a file just deleted is still listed
    assert there <= names
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


def test_one_version() -> None:
    """The changelog and the citation name the version that the package has, or the one it will have."""
    released = re.sub(r"\.dev\d+$", "", gradcon.__version__)
    changes = (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## \[(.+?)\]", changes, re.MULTILINE)
    assert headings[0] == ("Unreleased" if released != gradcon.__version__ else released)
    latest = headings[1] if headings[0] == "Unreleased" else headings[0]
    citation = (CHECKOUT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [latest]
