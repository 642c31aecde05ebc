"""Take the picture of a report for the guide: python docs/images/report.py"""

import tempfile
from pathlib import Path

from PIL import Image
from screenshot import screenshot

from gradcon import Options, estimate, open_scene, synth, write_report

PATH = Path(__file__).with_name("report.png")
STATE = "gradcon.set({ x: 0.3841, y: 0.6185, solve: 60, yaw: 0.35, pitch: 0.12 })"


def main() -> None:
    """Estimate, write the page, and take a screenshot of it."""
    with tempfile.TemporaryDirectory() as folder:
        scene = open_scene(synth.write("occlusion", Path(folder) / "scene" / "occlusion", (384, 384)))
        result = estimate(scene, Options("gcm", solves=60), keep_weights=True)
        page = write_report([result.save(Path(folder) / "occlusion")], Path(folder) / "report.html").path
        picture = screenshot(page, 1200, STATE)
    picture.quantize(256, dither=Image.Dither.NONE).save(PATH, optimize=True)


if __name__ == "__main__":
    main()
