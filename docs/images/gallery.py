"""Make the gallery's pictures: python docs/images/gallery.py [EXAMPLE ...]

Runs the scripts in examples/ as a reader would, and keeps what each draws, with fewer bits a pixel.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

EXAMPLES = Path(__file__).parents[2] / "examples"
GALLERY = Path(__file__).with_name("examples")
MOST_BYTES = 200_000


def main(names: list[str]) -> None:
    """Run the named examples, or all of them."""
    GALLERY.mkdir(exist_ok=True)
    for script in sorted(EXAMPLES.glob("*.py")):
        if names and script.stem not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, script, folder], check=True)
            pixels = np.asarray(Image.open(Path(folder) / f"{script.stem}.png").convert("RGB"))
        path = GALLERY / f"{script.stem}.png"
        for mask in (0xFC, 0xF8):  # 6 bits a channel, or 5 where that is too many bytes
            Image.fromarray(pixels & mask | pixels >> 6).save(path, optimize=True)
            if path.stat().st_size < MOST_BYTES:
                break
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
