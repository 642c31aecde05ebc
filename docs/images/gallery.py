"""Make the gallery's pictures: python docs/images/gallery.py [EXAMPLE ...]

It runs the scripts in examples/ as a reader would, and keeps their pictures with fewer bits per pixel.
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
        if not names or script.stem in names:
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run([sys.executable, script, folder], check=True)
                shrink(Path(folder) / f"{script.stem}.png", GALLERY / f"{script.stem}.png")


def shrink(picture: Path, path: Path) -> None:
    """Save a picture with 6 bits per channel, or with 5 or 4 if it is still too large."""
    pixels = np.asarray(Image.open(picture).convert("RGB"))
    for bits in (6, 5, 4):
        Image.fromarray(pixels >> (8 - bits) << (8 - bits) | pixels >> bits).save(path, optimize=True)
        if path.stat().st_size < MOST_BYTES:
            break
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
