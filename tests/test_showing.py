"""What notebooks and scripts show of results and scenes."""

from __future__ import annotations

import base64
import dataclasses
import io
import os
import re
import subprocess
import sys
import types
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from browser import Browser, missing
from gradcon import InputError, Result, Scene, estimate, synth
from gradcon.pictures.contact_sheet import MOST
from gradcon.pictures.showing import running_notebook

EVIL = "\"><script>document.title='evil'</script> & <b>'\ud800"


@pytest.fixture(scope="module")
def result() -> Result:
    return estimate(synth.render("planes", (48, 64), grid=3), engine="cpu")


@pytest.fixture(scope="module")
def evil(result: Result) -> Result:
    source = {**result.source, "name": EVIL, "reference": EVIL}
    return dataclasses.replace(result, source=source, engine_note=EVIL, warnings=[EVIL, "Second & last."])


def size_of(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG")
    return Image.open(io.BytesIO(png)).size


class Seen(HTMLParser):
    """The elements and the text of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.image: dict[str, str] = {}
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag == "img":
            self.image = {name: value or "" for name, value in attrs}

    def handle_data(self, data: str) -> None:
        self.text += f" {data} "


def test_a_result_is_its_map_and_its_facts(result: Result) -> None:
    width, height = size_of(result._repr_png_())
    assert 400 < width < 1000
    assert 300 < height < 1000
    seen = Seen(result._repr_html_())
    assert base64.b64decode(seen.image["src"].removeprefix("data:image/png;base64,")) == result._repr_png_()
    assert (seen.image["width"], seen.image["height"]) == (str(width), str(height))
    for name, text in result.summary().facts:
        assert f" {name} " in seen.text
        assert f" {text} " in seen.text
    assert f"RMSE {result.metrics['rmse']:.4f}" in seen.text
    assert "Warning" not in seen.text


def test_texts_of_the_scene_are_escaped(evil: Result) -> None:
    html = evil._repr_html_()
    html.encode()  # nothing is left that cannot be written
    seen = Seen(html)
    assert set(seen.tags) == {"div", "img", "p", "strong", "table", "tbody", "tr", "th", "td"}
    shown = EVIL.encode("utf-8", "backslashreplace").decode()
    assert seen.image["alt"] == f"The disparity of {shown}"
    assert seen.text.count(shown) == 4  # the scene, its reference, the engine's note and the warning
    assert "Second & last." in seen.text
    assert not re.search(r"(src|href)=\"(?!data:image/png)|url\(|<style|<script", html)


def test_a_large_map_stays_a_modest_picture(result: Result) -> None:
    noise = np.random.default_rng(0).normal(size=(3000, 4000)).astype(np.float32)
    html = dataclasses.replace(result, disparity=noise, uncertainty=np.abs(noise))._repr_html_()
    assert len(html) < 1.5e6
    tall = dataclasses.replace(result, disparity=noise[:, :2])
    assert max(size_of(tall._repr_png_())) < 2000


def test_a_scene_is_its_views_where_the_cameras_stand(result: Result) -> None:
    scene = result.scene
    pixels = np.asarray(Image.open(io.BytesIO(scene._repr_png_())).convert("RGB")).astype(int)
    red = (pixels[..., 0] > 180) & (pixels[..., 1] < 80) & (pixels[..., 2] < 80)
    down, across = (np.flatnonzero(red.sum(axis=1 - k) > 40) for k in range(2))
    middle = pixels[down[0] + 4 : down[-1] - 3, across[0] + 4 : across[-1] - 3]
    assert middle.shape[:2] == scene.shape  # the frame is around the reference, in the middle of the cross
    assert np.abs(middle - scene.colour).mean() < 3
    white = (pixels > 250).all(axis=-1)
    assert white[: pixels.shape[0] // 4, : pixels.shape[1] // 4].all()  # there is no camera in the corner
    seen = Seen(scene._repr_html_())
    assert "5 of 64 x 48, in colour" in seen.text
    assert scene.reference_name in seen.text


def test_any_scene_can_be_shown() -> None:
    rng = np.random.default_rng(0)
    views = rng.random((MOST + 31, 8, 12))
    places = rng.normal(size=(MOST + 30, 2))
    many = Scene(views[0], list(views[1:]), places, name=EVIL, reference_name=EVIL)
    assert "script" not in Seen(many._repr_html_()).tags
    assert "200 of 12 x 8, grey" in Seen(many._repr_html_()).text
    assert size_of(synth.render("rotated", (40, 40))._repr_png_())[0] > 60


class Publisher:
    def __init__(self) -> None:
        self.published: list[dict[str, Any]] = []

    def publish(self, data: dict[str, Any], metadata: dict[str, Any] | None = None) -> None:
        self.published.append(data)


class NotebookShell:
    def __init__(self) -> None:
        self.display_pub = Publisher()


class TerminalInteractiveShell(NotebookShell):
    pass


def run_in(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that IPython runs with this shell."""
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: shell  # type: ignore[attr-defined]
    ipython.version_info = (9, 0, 0)  # type: ignore[attr-defined]  # matplotlib looks at it
    monkeypatch.setitem(sys.modules, "IPython", ipython)


def test_show_displays_in_a_notebook(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = NotebookShell()
    run_in(shell, monkeypatch)
    result.show()
    result.show(cmap="turbo")
    result.scene.show()
    first, second, scene = shell.display_pub.published
    assert first["text/html"] == result._repr_html_()
    assert base64.b64decode(first["image/png"]) == result._repr_png_()
    assert second["image/png"] != first["image/png"]
    assert scene["text/html"] == result.scene._repr_html_()
    with pytest.raises(InputError, match="'jet' is not a colour map"):
        result.show(cmap="jet")


@pytest.mark.parametrize("shell", [None, TerminalInteractiveShell()], ids=["script", "terminal"])
def test_a_terminal_is_no_notebook(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    run_in(shell, monkeypatch)
    assert running_notebook() is None


def test_ipython_formats_both(result: Result) -> None:
    formatters = pytest.importorskip("IPython.core.formatters", reason="IPython is not installed")
    data, _ = formatters.DisplayFormatter().format(result)
    assert {"text/plain", "text/html", "image/png"} <= data.keys()
    text, _ = formatters.DisplayFormatter().format(result.summary())
    assert text["text/plain"] == str(result.summary())


def show_in_a_script(folder: Path, **environment: str) -> str:
    """Show a scene in a script whose IPython breaks when it is imported; return what it says."""
    (folder / "IPython.py").write_text("raise RuntimeError('nobody asked for IPython')\n")
    program = "from gradcon import synth; synth.render('planes', (16, 16), grid=3).show()"
    told = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    told |= {"PYTHONPATH": os.pathsep.join([str(folder), *sys.path]), "TMPDIR": str(folder), **environment}
    done = subprocess.run([sys.executable, "-c", program], env=told, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    return done.stderr.strip()


linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems open pictures with other programs")


@linux
def test_without_a_display_a_script_says_where_the_picture_is(tmp_path: Path) -> None:
    said = show_in_a_script(tmp_path)
    assert said.startswith("There is no display to show the picture on, so it was written to ")
    assert said.count("\n") == 0
    assert size_of(Path(said.split()[-1].removesuffix(".")).read_bytes())[0] > 40


@linux
@pytest.mark.parametrize("code", [0, 3])
def test_a_script_opens_the_picture_in_a_viewer(code: int, tmp_path: Path) -> None:
    viewer = tmp_path / "xdg-open"
    viewer.write_text(f'#!/bin/sh\ncp "$1" "{tmp_path}/opened.png"\necho noise >&2\nexit {code}\n')
    viewer.chmod(0o755)
    said = show_in_a_script(tmp_path, DISPLAY=":0", PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert said.startswith("There is no display") if code else said == ""
    assert size_of((tmp_path / "opened.png").read_bytes())[0] > 40


@pytest.mark.slow
@pytest.mark.skipif(bool(missing()), reason=missing() or "there is a browser")
@pytest.mark.parametrize("dark", [False, True])
def test_a_browser_shows_it_in_light_and_dark(evil: Result, browser: Browser, tmp_path: Path, dark: bool) -> None:
    page = tmp_path / "page.html"
    head = '<!doctype html><html data-ready="1"><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
    page.write_text(f"{head}<title>fine</title><body>{evil._repr_html_()}", encoding="utf-8")
    browser.open(page, width=1000, dark=dark)
    assert browser.js("return document.title") == "fine"
    assert browser.js("const i = document.images[0]; return i.complete && i.naturalWidth > 400 && i.width <= 520")
    colour = "return getComputedStyle(document.querySelector(arguments[0])).color"
    assert browser.js(colour, "td") == browser.js(colour, "body")  # whatever is readable in the notebook
    beside = "return document.querySelector('table').getBoundingClientRect().left > document.images[0].width"
    assert browser.js(beside)
    browser.open(page, width=400, dark=dark)
    assert not browser.js(beside)
    assert browser.js("return document.documentElement.scrollWidth <= innerWidth")
