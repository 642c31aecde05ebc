"""`gradcon evaluate --leave-out`: judge a map without ground truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gradcon import engines
from gradcon.cli.app import as_json, say
from gradcon.cli.openings import Told
from gradcon.cli.results_of_scenes import Both, open_both
from gradcon.errors import InputError
from gradcon.io.outputs import LEFT_OUT_PICTURE
from gradcon.progress import Display
from gradcon.scene.units import DISPARITY_UNIT

if TYPE_CHECKING:
    from gradcon.judging import LeftOut


def judged(disparity: Path, scene: Path, told: Told) -> tuple[Both, LeftOut]:
    """Open a result and its scene, and predict the views that the result was not made from."""
    from gradcon.judging import leave_out
    from gradcon.methods.compilation import begin

    both = open_both(scene, disparity, told)
    if both.used is not None and not set(both.used) & set(both.scene.target_names):
        problem = f"was made from none of the views of {scene}"
        raise InputError(disparity, problem, "give the result of this scene")
    begin(engines.kind_for(engines.AUTO).name, "sweep", say=Display(both.scene.name, 0).print)
    return both, leave_out(both.scene, both.disparity, both.used)


def judge(disparity: Path, scene: Path, told: Told, picture: Path | None, json: bool) -> None:
    """Predict the views that a result was not made from, print how well, and draw where the map fails."""
    from gradcon.files import write_file
    from gradcon.pictures.failures import failure_picture

    both, found = judged(disparity, scene, told)
    target = picture or (disparity if disparity.is_dir() else disparity.parent) / LEFT_OUT_PICTURE
    write_file(target, failure_picture(both.scene.colour, found.failures, both.scene.name))
    if json:
        say(as_json({"scene": both.scene.name, "leave_out": found.summary()}))
        return
    if not found.independent:
        text = "the map may be made from all these views, so it is judged too well"
        say(f"NOTE: {text}; estimate with fewer, such as --views 9, for an independent judgement.", aside=True)
    rows = [
        (f"PSNR, mean of {len(found.views)} views", found.psnr, "dB"),
        ("SSIM", found.ssim, "1 is best"),
        ("pixels that other views see", found.seen, "%"),
        ("pixels that they can tell", found.sure, "%"),
        ("suspected RMSE", found.suspected_rmse, DISPARITY_UNIT),
        ("suspected BadPix 0.07", found.suspected_badpix_007, "% of pixels"),
    ]
    lines = [f"{name:30} {value:10.4f}  {unit}" for name, value, unit in rows]
    worst = min(found.views, key=lambda view: view.psnr)
    lines += [f"{'worst view':30} {worst.psnr:10.4f}  dB, {worst.name}", f"{'where it fails':30} {target}"]
    say("\n".join(lines))
