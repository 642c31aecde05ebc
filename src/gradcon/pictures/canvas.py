"""Matplotlib figures without a display: a new figure, and its bytes as PNG or SVG."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def new_figure(width: float, height: float, **options: Any) -> Figure:
    """Return an empty figure, whose size is in inches; `options` are those of matplotlib's `Figure`."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), **options)


def png_of(figure: Figure) -> bytes:
    """Draw a figure as PNG; the same figure gives the same bytes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the font may lack letters of a name
        FigureCanvasAgg(figure).print_png(buffer, metadata={"Software": "gradcon"})
    return buffer.getvalue()


def svg_of(figure: Figure) -> bytes:
    """Draw a figure as SVG; the same figure gives the same bytes."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "gradcon", "svg.fonttype": "path"}):
        FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None, "Creator": "gradcon"})
    return buffer.getvalue()
