"""The documentation: the site builds, is complete and needs no network; commands, options and sources exist."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import typer.main

from conftest import CHECKOUT
from gradcon.cli.app import app

DOCS = CHECKOUT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
ROOT_PAGES = [CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md", CHECKOUT / "CHANGELOG.md"]
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
FORMULA = re.compile(r"\$\$.+?\$\$|\$[^$\n]+\$", re.DOTALL)


def name(path: Path) -> str:
    return str(path.relative_to(CHECKOUT))


class Page(HTMLParser):
    """What the tests ask of a page: its links, what it loads, and the text outside of code."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.text = ""
        self.formulas = 0
        self.symbols = ""  # inside formulas
        self._inside: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {key: value or "" for key, value in attrs}
        self.formulas += tag == "math"
        self.anchors |= {told[key] for key in ("id", "name") if key in told}
        if tag == "a" and "href" in told:
            self.links.append(told["href"])
        if "src" in told:
            self.loaded.append(told["src"])
        if tag == "link" and told.get("rel") not in ("canonical", "next", "prev"):
            self.loaded.append(told.get("href", ""))
        if tag in ("code", "pre", "script", "style", "math"):
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._inside and tag == self._inside[-1]:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self.text += data
        elif "math" in self._inside:
            self.symbols += data


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site as `make docs` does: a warning is a failure."""
    for module in ("mkdocs", "material", "mkdocstrings", "latex2mathml"):
        pytest.importorskip(module, reason="the documentation's tools are missing: install the extra `docs`")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=CHECKOUT, env=quiet, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in site.rglob("*.html") if path.name != "404.html"}  # a server's page


def test_every_page_is_there(pages: dict[Path, Page], site: Path) -> None:
    assert {path.relative_to(site).with_suffix(".md") for path in pages} == {path.relative_to(DOCS) for path in PAGES}


def test_links_and_images_lead_somewhere(pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        for target in page.links + page.loaded:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert there.is_file(), f"{path.name} leads to {target}"
            if parts.fragment and there in pages:
                assert unquote(parts.fragment) in pages[there].anchors, f"{path.name} leads to {target}"


def test_nothing_is_fetched(pages: dict[Path, Page], site: Path) -> None:
    for path, page in pages.items():
        assert not [source for source in page.loaded if re.match(r"(https?:)?//", source)], path.name
    for path in site.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*[\"']?(https?:)?//", path.read_text(encoding="utf-8")), path.name


def test_the_site_does_not_link_to_sources(pages: dict[Path, Page]) -> None:
    assert not [link for page in pages.values() for link in page.links if "src/gradcon" in link or link.endswith(".py")]


@pytest.mark.parametrize("path", [*ROOT_PAGES, *PAGES], ids=name)
def test_links_between_the_sources_lead_somewhere(path: Path) -> None:
    """Check links to source files and to other pages of the checkout, which a repository's site shows."""
    for target in LINK.findall(FENCED.sub("", path.read_text(encoding="utf-8"))):
        if not re.match(r"https?:|#", target):
            assert (path.parent / target.split("#")[0]).exists(), f"{name(path)} leads to {target}"


def test_the_readme_is_short() -> None:
    lines = (CHECKOUT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 130
    assert max(map(len, lines)) <= 120


def test_every_formula_is_set(pages: dict[Path, Page], site: Path) -> None:
    for path in PAGES:
        page = pages[site / path.relative_to(DOCS).with_suffix(".html")]
        prose = re.sub(r"`[^`\n]*`", "", FENCED.sub("", path.read_text(encoding="utf-8")))
        assert page.formulas == len(FORMULA.findall(prose)), path.name
        assert not re.search(r"\$|\\[(\[a-zA-Z]", page.text), path.name
        assert "\\" not in page.symbols, path.name
    model = pages[site / "model.html"]
    assert model.formulas > 100
    assert {"\N{MATHEMATICAL BOLD CAPITAL B}", "\N{MATHEMATICAL SCRIPT CAPITAL N}"} <= set(model.symbols)


def test_search_works_without_a_server(site: Path) -> None:
    script, index = ((site / "search" / f"search_index.{suffix}").read_text() for suffix in ("js", "json"))
    assert script == f"var __index = {index}"
    assert "guide/disparity.html" in index


def commands() -> Iterator[tuple[Path, list[str]]]:
    """Find every `gradcon` command line of the documentation."""
    for path in [*ROOT_PAGES, *PAGES]:
        for language, block in BLOCK.findall(path.read_text(encoding="utf-8")):
            if language == "sh":
                for line in block.replace("\\\n", " ").splitlines():
                    if line.startswith("gradcon "):
                        yield path, shlex.split(line, comments=True)[1:]


def known_options() -> dict[str, set[str]]:
    group: Any = typer.main.get_command(app)
    return {
        command: {option for parameter in found.params for option in (*parameter.opts, *parameter.secondary_opts)}
        for command, found in group.commands.items()
    }


def test_commands_and_their_options_exist() -> None:
    known = known_options()
    told = list(commands())
    assert len(told) > 30
    for path, (command, *arguments) in told:
        assert command in known, f"{name(path)}: gradcon {command}"
        for argument in arguments:
            assert not argument.startswith("--") or argument.split("=")[0] in known[command], (
                f"{name(path)}: {argument}"
            )


@pytest.mark.parametrize("path", [CHECKOUT / "README.md", *PAGES], ids=name)
def test_options_in_the_text_exist(path: Path) -> None:
    known = set().union(*known_options().values(), {"--help"})
    prose = FENCED.sub("", path.read_text(encoding="utf-8"))
    assert set(re.findall(r"`(--[a-z][a-z-]*)", prose)) <= known


def defined_in(path: Path) -> set[str]:
    """Find the functions, methods (as Class.method) and constants of a module."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


def test_the_model_names_functions_that_exist() -> None:
    package = CHECKOUT / "src" / "gradcon"
    homes = {"geometry": package / "scene", "Camera": package / "scene" / "geometry.py"}
    homes |= dict.fromkeys(("cascade", "cpu", "model", "reference"), package / "engines")
    homes |= {"ReferenceEngine": package / "engines" / "reference.py", "CpuEngine": package / "engines/cpu/engine.py"}
    text = (DOCS / "model.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:cpu\.)?(?:\w+)\.(?!(?:py|h|cu|toml)\b)\w+)`", text)
    assert len(named) > 60
    for full in named:
        *modules, function = full.split(".")
        home = homes.get(modules[0])
        if home is None:
            assert full in ("Result.stopped",), full
        elif home.suffix:
            assert full in defined_in(home), full
        else:
            assert function in defined_in(home.joinpath(*modules).with_suffix(".py")), full
