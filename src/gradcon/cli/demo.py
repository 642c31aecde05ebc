"""The demo: render a light field, estimate its disparity, and write the result and a page that shows it."""

from __future__ import annotations

from pathlib import Path

from gradcon.cli.app import say
from gradcon.io import open_scene
from gradcon.methods.estimation import estimate
from gradcon.result import Result
from gradcon.result.folder import write_result

SCENE, SIZE = "occlusion", (384, 384)
FOLDER, PAGE = SCENE, "report.html"


def run(folder: Path) -> Result:
    """Run the demo, write the scene, its result and the page into `folder`, and report progress on stderr."""
    from gradcon import synth
    from gradcon.report import write_report

    say(f"Rendering the scene {SCENE!r}: 17 views of {SIZE[1]} x {SIZE[0]} ...", aside=True)
    scene = open_scene(synth.write(SCENE, folder / FOLDER, SIZE))
    say("Estimating ...", aside=True)
    result = estimate(scene, progress=True, keep_weights=True)
    write_result(result, folder)
    write_report([folder], folder / PAGE)
    return result
