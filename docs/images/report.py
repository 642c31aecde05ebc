"""Take the picture of a report for the guide: python docs/images/report.py"""

import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from screenshot import screenshot

from gradcon import Options, estimate, open_scene, synth, write_report

PATH = Path(__file__).with_name("report.png")
STATE = """gradcon.set({
    x: 0.3841, y: 0.6185, yaw: 0.35, pitch: 0.12,
    right: 1.5, down: -0.5, aperture: 5, sharp: { x: 0.22, y: 0.7, of: "", w: 0 },
})"""


def main() -> None:
    """Estimate, write the page, and take a screenshot of it."""
    with tempfile.TemporaryDirectory() as folder:
        scene = open_scene(synth.write("occlusion", Path(folder) / "scene" / "occlusion", (384, 384)))
        result = estimate(scene, Options("gcm", solves=60), keep_weights=True)
        page = write_report([result.save(Path(folder) / "occlusion")], Path(folder) / "report.html").path
        picture = screenshot(page, 1200, STATE)
    pixels = np.asarray(picture)
    Image.fromarray(pixels & 0xF8 | pixels >> 5).save(PATH, optimize=True)  # 5 bits per channel are enough for a guide


if __name__ == "__main__":
    main()
