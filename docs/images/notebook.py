"""Take the picture of what a notebook shows for the guide: python docs/images/notebook.py"""

import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from screenshot import screenshot

from gradcon import estimate, synth

PATH = Path(__file__).with_name("notebook.png")
STYLE = """
body { font: 14px sans-serif; margin: 14px; color: #222 }
pre { font-size: 13px; background: #f5f5f5; border: 1px solid #ddd; padding: 8px; margin: 14px 0 8px }
"""


def main() -> None:
    """Lay out two cells with what they show, and take a screenshot of them."""
    scene = synth.render("occlusion", (256, 256), grid=5, views="all")
    result = estimate(scene, engine="cpu")
    cells = ("scene", scene), ("gradcon.estimate(scene)", result)
    shown = "".join(f"<pre>{code}</pre>{value._repr_html_()}" for code, value in cells)
    head = f'<!doctype html><html data-ready="1"><meta charset="utf-8"><style>{STYLE}</style>'
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "notebook.html"
        page.write_text(f"{head}<main>{shown}</main>", encoding="utf-8")
        pixels = np.asarray(screenshot(page, 1040))
    Image.fromarray(pixels & 0xF8 | pixels >> 5).save(PATH, optimize=True)  # 5 bits per channel keep the file small


if __name__ == "__main__":
    main()
