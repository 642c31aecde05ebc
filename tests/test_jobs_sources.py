"""A kept job is used again only by the gradcon that computed it, and jobs are done only by that gradcon."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gradcon
from gradcon.identity import hash_of_folder, sources

pytestmark = pytest.mark.slow

PACKAGE = Path(gradcon.__file__).parent
FILES = [path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    copy = tmp_path / "path" / "gradcon"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def test_every_file_of_the_package_counts(package: Path) -> None:
    before = hash_of_folder(package)
    assert before == hash_of_folder(PACKAGE) == sources()
    assert {path.suffix for path in FILES} >= {".py", ".cu", ".h", ".j2", ".js", ".css"}
    hashes = {before}
    for file in FILES:
        path = package / file.relative_to(PACKAGE)
        content = path.read_bytes()
        path.write_bytes(content + b"\n")
        hashes.add(hash_of_folder(package))
        path.write_bytes(content)
    assert len(hashes) == 1 + len(FILES)
    assert hash_of_folder(package) == before


def test_names_count_but_compiled_code_does_not(package: Path) -> None:
    before = hash_of_folder(package)
    for leftover in ("__pycache__/errors.cpython-311.pyc", "io/__pycache__/x.nbi", ".errors.py.swp"):
        (package / leftover).parent.mkdir(exist_ok=True)
        (package / leftover).write_bytes(b"?")
    assert hash_of_folder(package) == before
    (package / "errors.py").rename(package / "mistakes.py")
    assert hash_of_folder(package) != before


SCRIPT = """
import sys
from pathlib import Path

folder, edited = Path(sys.argv[1]), sys.argv[2:]
import job_kinds
from gradcon.errors import InputError
from gradcon.identity import sources
from gradcon.jobs import Store, run

if __name__ == "__main__":
    if edited:  # after this process knows which gradcon it is, and before its workers start
        sources()
        with open(edited[0], "a") as file:
            file.write("# edited")
    try:
        done = run(job_kinds.squares(folder / "marks", 2), Store(folder / "jobs"), workers=1)
        print(done.computed, done.reused)
    except InputError as error:
        print(error)
"""


def run_with(package: Path, folder: Path, *edited: Path) -> str:
    script = folder / "script.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(package.parent), str(Path(__file__).parent)])}
    command = [sys.executable, str(script), str(folder), *map(str, edited)]
    found = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return found.stdout.strip()


def test_after_an_edit_kept_jobs_are_computed_again(package: Path, tmp_path: Path) -> None:
    assert run_with(package, tmp_path) == "2 0"
    assert run_with(package, tmp_path) == "0 2"
    with open(package / "report" / "__init__.py", "a") as file:  # no part of the model, nor of the jobs
        file.write("# edited")
    assert run_with(package, tmp_path) == "2 0"


def test_a_worker_with_other_sources_is_refused(package: Path, tmp_path: Path) -> None:
    said = run_with(package, tmp_path, package / "report" / "__init__.py")
    version = gradcon.__version__
    assert said == (
        f"worker: runs a gradcon {version} whose sources differ from the ones here; install the same gradcon there."
    )
    assert not list((tmp_path / "marks").iterdir())
