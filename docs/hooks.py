"""Additions to mkdocs: formulas become MathML, links to source files become plain text, search works without a server.

The pages have two kinds of reader.  On a repository's site they are Markdown with $TeX$ and links to the sources beside
them.  On the site built here they need neither the sources nor a script that draws the formulas.
"""

from __future__ import annotations

import html
import posixpath
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.plugins import event_priority

LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\(([^)\s]+)\)")
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
STYLED = re.compile(r'<mi mathvariant="(bold|script)">([A-Za-z])</mi>')
# Where the alphabets begin, for A and for a; and the script letters that Unicode keeps elsewhere.
ALPHABETS = {"bold": (0x1D400, 0x1D41A), "script": (0x1D49C, 0x1D4B6)}
LETTERS = dict(zip("BEFHILMRego", "\u212c\u2130\u2131\u210b\u2110\u2112\u2133\u211b\u212f\u210a\u2134", strict=True))
BAR, SLASH, TILDE = "&#x0007C;", "&#x0002F;", "&#x0007E;"


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Replace links that lead out of the documentation by their text."""
    folder = posixpath.dirname(page.file.src_uri)

    def inside_only(link: re.Match[str]) -> str:
        text, target = link.groups()
        return text if posixpath.normpath(posixpath.join(folder, target)).startswith("../") else link.group()

    return LINK.sub(inside_only, markdown)


def on_page_content(page_html: str, **_: Any) -> str:
    """Replace the formulas that `pymdownx.arithmatex` has found by MathML."""

    def set_formula(found: re.Match[str]) -> str:
        kind, tex = found.groups()
        mathml = to_mathml(html.unescape(tex.strip()), block=kind == "div")
        return f'<div class="formula">{mathml}</div>' if kind == "div" else mathml

    return FORMULA.sub(set_formula, page_html)


@event_priority(-100)  # after the search has written its index
def on_post_build(config: Any, **_: Any) -> None:
    """Write the search index as a script, too, because a page opened as a file may not read other files."""
    folder = Path(config.site_dir) / "search"
    index = (folder / "search_index.json").read_text(encoding="utf-8")
    (folder / "search_index.js").write_text(f"var __index = {index}", encoding="utf-8")


def to_mathml(tex: str, *, block: bool) -> str:
    """Convert TeX to MathML for browsers, which ignore `mathvariant` and set spaces around | and /."""
    mathml = convert(tex, display="block" if block else "inline")
    mathml = STYLED.sub(lambda found: f"<mi>{styled(*found.groups())}</mi>", mathml)
    mathml = re.sub(rf"<mo[^>]*>({BAR}|{SLASH})</mo>", r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>', mathml)
    return mathml.replace(f"<mo>{TILDE}</mo></mover>", '<mo stretchy="true">&#x002DC;</mo></mover>')


def styled(alphabet: str, letter: str) -> str:
    """Return a letter of the bold or the script alphabet."""
    if alphabet == "script" and letter in LETTERS:
        return LETTERS[letter]
    upper, lower = ALPHABETS[alphabet]
    return chr(upper + ord(letter) - ord("A") if letter.isupper() else lower + ord(letter) - ord("a"))
