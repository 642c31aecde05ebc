"""The demo: render a light field on the spot, estimate its disparity, write what came out."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from gradcon.estimate import estimate
from gradcon.result import Result

SCENE, SIZE = "occlusion", (384, 384)
PICTURE = "reference.png"


def run(folder: Path) -> Result:
    """Run the demo, write its results and the reference view into `folder`; say on stderr how it goes."""
    from gradcon import synth
    from gradcon.io import png
    from gradcon.io.files import write_file

    print(f"Rendering the scene {SCENE!r}: 17 views of {SIZE[1]} x {SIZE[0]} ...", file=sys.stderr, flush=True)
    scene = synth.render(SCENE, SIZE)
    print("Estimating; the first run on a machine compiles for about a minute ...", file=sys.stderr, flush=True)
    result = estimate(scene, progress=True)
    result.save(folder)
    write_file(folder / PICTURE, png.encode(np.asarray(scene.colour)))
    return result
