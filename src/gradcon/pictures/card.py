"""A picture with facts beside it: what a notebook shows of an object, and a script in the system's viewer."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence
from dataclasses import dataclass

from gradcon.io.listing import writable
from gradcon.pictures.showing import open_picture, running_notebook

Fact = tuple[str, str]

# Styles stand in the elements, because a style sheet would reach the rest of the notebook.  Text keeps the notebook's
# colour; lines are a translucent grey, which shows on light and on dark.
_ROW = "display:flex;flex-wrap:wrap;gap:0.5em 1.5em;align-items:flex-start"
_PICTURE = "background:white;border-radius:4px;max-width:min(100%,520px);max-height:640px;width:auto;height:auto"
_FACTS = "flex:1 1 22em;max-width:48em;min-width:0"
_TABLE = "border-collapse:collapse;border:none;margin:0;table-layout:auto"
_LINE = "border:none;border-bottom:1px solid rgba(128,128,128,0.3);background:none;vertical-align:top;text-align:left"
_NAME = f"{_LINE};padding:0.3em 1em 0.3em 0;font-weight:600;white-space:nowrap"
_TEXT = f"{_LINE};padding:0.3em 0;white-space:normal;overflow-wrap:anywhere"
_WARNING = "border-left:4px solid #d9822b;padding:0.3em 0 0.3em 0.7em;margin:0 0 0.7em 0;overflow-wrap:anywhere"


@dataclass(frozen=True)
class Card:
    """A PNG, a sentence that stands for it, and the facts and warnings that belong to it."""

    png: bytes
    says: str
    facts: Sequence[Fact]
    warnings: Sequence[str] = ()

    @property
    def html(self) -> str:
        """The picture and the facts as HTML that needs nothing else; all texts are escaped."""
        from PIL import Image

        width, height = Image.open(io.BytesIO(self.png)).size
        picture = (
            f'<img src="data:image/png;base64,{self._encoded}" alt="{_safe(self.says)}" '
            f'width="{width}" height="{height}" style="{_PICTURE}">'
        )
        warnings = "".join(
            f'<p style="{_WARNING}"><strong>Warning:</strong> {_safe(text)}</p>' for text in self.warnings
        )
        rows = "".join(
            f'<tr style="background:none"><th scope="row" style="{_NAME}">{_safe(name)}</th>'
            f'<td style="{_TEXT}">{_safe(text)}</td></tr>'
            for name, text in self.facts
        )
        facts = f'<div style="{_FACTS}">{warnings}<table style="{_TABLE}"><tbody>{rows}</tbody></table></div>'
        return f'<div style="{_ROW}">{picture}{facts}</div>'

    def show(self) -> None:
        """Display the card in a notebook; elsewhere open the picture in the system's viewer."""
        notebook = running_notebook()
        if notebook is None:
            open_picture(self.png)
            return
        notebook.display_pub.publish(
            {"text/plain": writable(self.says), "text/html": self.html, "image/png": self._encoded}, metadata={}
        )

    @property
    def _encoded(self) -> str:
        return base64.b64encode(self.png).decode("ascii")


def _safe(text: str) -> str:
    """Escape a text for HTML."""
    return html.escape(writable(text))
