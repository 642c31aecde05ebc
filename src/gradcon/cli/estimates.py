"""`gradcon estimate`, `evaluate` and `demo`: estimate one scene, and measure the error."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gradcon import Result, Scene, engines, estimate, evaluate, evaluate_uncertainty, open_frames
from gradcon.cli import every_view, openings, videos
from gradcon.cli.app import Json, Out, SceneArgument, app, as_json, refuse_result_file, refuse_unwritable, say
from gradcon.cli.disparities import read_disparity, refuse_another_size, refuse_another_view, warn_of_other_pixels
from gradcon.cli.groups import grouped
from gradcon.cli.judgements import judge
from gradcon.cli.messages import describe, jumps_table, metrics_table, uncertainty_table, warn
from gradcon.cli.parameters import ColourMap, Engine, Flip, KeepWeights, OptionsGiven, Points
from gradcon.errors import InputError
from gradcon.io.outputs import LEFT_OUT_PICTURE, UNCERTAINTY_PICTURE, refuse_foreign_folder
from gradcon.methods.compilation import begin
from gradcon.methods.registry import check_start
from gradcon.pictures.colour_maps import DEFAULT_MAP, check_colour_map
from gradcon.progress import Display
from gradcon.result.depth import calibration_of
from gradcon.result.folder import write_result
from gradcon.result.points import KEEP, check_keep
from gradcon.scene.layout import Layout
from gradcon.scene.variants import laid_out

if TYPE_CHECKING:
    from gradcon.io.listing import Listing
    from gradcon.io.maps import Map


@app.command("estimate")
@grouped
def _estimate(
    scene: SceneArgument,
    out: Out,
    options: OptionsGiven,
    views: openings.Views = "all",
    engine: Engine = "auto",
    flip: Flip = None,
    initial: Annotated[
        str | None,
        typer.Option(metavar="MAP|NUMBER", help="A map to continue from; for the paper's methods also a number."),
    ] = None,
    frames: Annotated[str | None, typer.Option(metavar="START:STOP", help="Only these frames of a video.")] = None,
    depth: Annotated[
        bool, typer.Option("--depth", help="Refuse a scene without calibration, which has no depth.")
    ] = False,
    points: Points = False,
    normals: Annotated[bool, typer.Option("--normals", help="Also write the normals of the points.")] = False,
    keep_weights: KeepWeights = False,
    keep: Annotated[
        float | None, typer.Option(help=f"The share of the surest pixels to keep as points [default: {KEEP}].")
    ] = None,
    cmap: ColourMap = DEFAULT_MAP,
    json: Json = False,
    *,
    told: openings.ToldAboutScene,
    all_views: every_view.All = False,
    references: every_view.References = None,
) -> None:
    """Estimate the disparity of a scene's reference view.

    A calibrated scene also gets depth.  Each frame of a light-field video starts from the one before it, and gets a
    folder of its own.  With --every-view or --references, several views get consistent maps, each in a folder of its
    own.
    """
    several = every_view.asked(all_views, references)
    engines.check(engine)
    layout = Layout.parse(flip)
    check_colour_map(cmap)
    if not points and (normals or keep is not None):
        option = "normals" if normals else "keep"
        raise InputError(option, "applies only to the points, which are not written", "add --points")
    share = check_keep(KEEP if keep is None else keep)
    given = _initial(initial)
    if isinstance(given, float):
        check_start(options.method, given)
    refuse_unwritable(out)
    found = open_frames(scene, views=views, **told)
    start = _start(given, initial, found.listing)
    chosen = videos.choose_frames(frames, found, scene)
    name = found.listing.name or found.listing.source.resolve().name
    begin(engines.kind_for(engine).name, options.method, say=Display(name, 0).print)  # while the images are read

    def prepare(opened: Scene) -> Scene:
        if flip:
            opened = laid_out(opened, layout)
        if depth or points:
            calibration_of(opened)
        return opened

    what: dict[str, Any] = {"points": points, "normals": normals, "keep": share, "cmap": cmap}

    def save(result: Result, folder: Path) -> None:
        write_result(result, folder, **what)

    if several:
        every_view.refuse_still_options(initial=initial, keep_weights=keep_weights)
        videos.refuse_video_folder(out)
        more: dict[str, Any] = {"references": references, "what": what, "engine": engine, "json": json}
        every_view.estimate_views_of(found, chosen, out, options, prepare=prepare, **more)
        return
    every_view.refuse_views_folder(out)
    if found.is_video:
        if keep_weights:
            problem = f"{scene} is a video, and weights are recorded only for stills"
            raise InputError("keep-weights", problem, "leave the option out")
        how: dict[str, Any] = {"initial": start, "engine": engine, "json": json}
        videos.estimate_video(found, chosen, out, options, prepare=prepare, save=save, **how)
        return
    videos.refuse_video_folder(out)
    refuse_foreign_folder(out, scene)
    opened = prepare(found[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # result.warnings holds them, and they are shown below
        result = estimate(opened, options, initial=start, engine=engine, progress=True, keep_weights=keep_weights)
    summary = write_result(result, out, **what)
    warn(result.warnings)
    say(summary.rstrip() if json else describe(result, out))


@app.command("evaluate")
@grouped
def _evaluate(
    disparity: Annotated[Path, typer.Argument(help="A disparity map, or a folder that `gradcon estimate` wrote.")],
    scene: SceneArgument,
    uncertainty: Annotated[
        bool, typer.Option("--uncertainty", help="Also compare the uncertainty with the true error.")
    ] = False,
    confidence: Annotated[bool, typer.Option("--confidence", hidden=True)] = False,  # the old name of --uncertainty
    picture: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=f"The picture of --uncertainty or --leave-out [default: {UNCERTAINTY_PICTURE} or {LEFT_OUT_PICTURE} "
            "in DISPARITY].",
        ),
    ] = None,
    jumps: Annotated[
        bool, typer.Option("--jumps", help="Also report the error beside depth jumps and elsewhere.")
    ] = False,
    left_out: Annotated[
        bool, typer.Option("--leave-out", help="Judge without ground truth, by views that the map was not made from.")
    ] = False,
    json: Json = False,
    *,
    told: openings.ToldAboutScene,
) -> None:
    """Compare a disparity map with a scene's ground truth.

    With --uncertainty, the predicted standard deviation is compared with the true error: how the RMSE falls as the
    least certain pixels are dropped, and how large the errors are at pixels of similar uncertainty.

    With --leave-out, no ground truth is needed: views that the map was not made from are predicted from it and from the
    others, and compared with the real ones.
    """
    from gradcon.files import write_file
    from gradcon.io.maps import read_map
    from gradcon.pictures.uncertainty import uncertainty_picture
    from gradcon.result.jumps import evaluate_at_jumps

    uncertainty = uncertainty or confidence
    if picture is not None and not (uncertainty or left_out):
        raise InputError("picture", "shows what is not evaluated", "add --uncertainty or --leave-out")
    if picture is not None and picture.name not in (UNCERTAINTY_PICTURE, LEFT_OUT_PICTURE):
        refuse_result_file(picture)
    if left_out:
        if uncertainty or jumps:
            option = "uncertainty" if uncertainty else "jumps"
            raise InputError(option, "needs ground truth, and --leave-out does not use it", "leave out one of the two")
        judge(disparity, scene, told, picture, json)
        return
    estimated = read_disparity(disparity)
    frames = open_frames(scene, views=2, **told)  # the ground truth needs no more
    opened = frames[0]
    truth = opened.ground_truth
    if truth is None:
        problem = f"holds no ground truth of {opened.reference_name} to compare with"
        raise InputError(scene, problem, "give a scene that does")
    refuse_another_view(estimated, disparity, frames.listing)
    refuse_another_size(estimated, disparity, opened.shape, f"the ground truth of {scene}")
    warn_of_other_pixels(disparity, opened)
    found: dict[str, Any] = {"scene": opened.name, "metrics": evaluate(estimated.values, truth)}
    text = metrics_table(found["metrics"])
    if jumps:
        found["jumps"] = evaluate_at_jumps(estimated.values, truth)
        text += f"\n{jumps_table(found['jumps'])}"
    if uncertainty:
        if not (disparity.is_dir() or disparity.suffix.lower() == ".npz"):
            problem = "is a single map without an uncertainty"
            raise InputError(disparity, problem, "give the folder of a result, or leave --uncertainty out")
        deviation = read_map(disparity, "uncertainty")
        refuse_another_view(deviation, disparity, frames.listing)
        refuse_another_size(deviation, disparity, opened.shape, f"the ground truth of {scene}")
        found["uncertainty"] = evaluate_uncertainty(estimated.values, deviation.values, truth)
        target = picture or (disparity if disparity.is_dir() else disparity.parent) / UNCERTAINTY_PICTURE
        write_file(target, uncertainty_picture(found["uncertainty"], opened.name))
        text += f"\n\n{uncertainty_table(found['uncertainty'])}\n{'plots':30} {target}"
    say(as_json(found) if json else text)


@app.command("demo")
def _demo(out: Out = Path("demo")) -> None:
    """Render a light field and estimate its disparity.

    It takes ten seconds, and the first time ten more, to compile.  The result is compared with the exact truth.
    """
    from gradcon.cli import demo

    refuse_unwritable(out)
    refuse_foreign_folder(out, own=[demo.FOLDER])  # a demo that was stopped has left it there
    result = demo.run(out)
    warn(result.warnings)
    say(describe(result, out))
    page = (out / demo.PAGE).resolve()
    say(f"{'views':11} {out / demo.FOLDER}: a scene to try other commands on")
    say(f"{'page':11} {out / demo.PAGE}: open {page.as_uri()} in a browser")


def _initial(text: str | None) -> float | Map | None:
    """Parse the option --initial: a number, or the path of a disparity map."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return read_disparity(Path(text))


def _start(given: float | Map | None, told: str | None, scene: Listing) -> Any:
    """Return the disparity to start from; refuse a map that does not belong to the scene."""
    if given is None or isinstance(given, float):
        return given
    refuse_another_view(given, Path(told or ""), scene)
    return given.values
