"""`gradcon estimate`, `evaluate` and `demo`."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gradcon import Result, Scene, engines, estimate, evaluate, evaluate_uncertainty, open_frames
from gradcon.cli import videos
from gradcon.cli.app import Json, Out, SceneArgument, app, as_json, refuse_result_file, refuse_unwritable
from gradcon.cli.disparities import read_disparity, refuse_another_size, refuse_another_view
from gradcon.cli.messages import describe, metrics_table, uncertainty_table, warn
from gradcon.cli.openings import Told, Views, opens_scene
from gradcon.cli.parameters import Alpha, Engine, Epsilon, Flip, KeepWeights, Method, Points, Scales, Solves, Without
from gradcon.errors import InputError
from gradcon.io.outputs import SUMMARY, UNCERTAINTY_PICTURE
from gradcon.methods.options import Options
from gradcon.result.depth import calibration_of
from gradcon.result.points import KEEP, check_keep
from gradcon.scene import check_flip

if TYPE_CHECKING:
    from gradcon.io.listing import Listing
    from gradcon.io.maps import Map


@app.command("estimate")
@opens_scene
def _estimate(
    scene: SceneArgument,
    out: Out,
    method: Method = "gcm",
    without: Without = None,
    alpha: Alpha = Options.alpha,
    epsilon: Epsilon = Options.epsilon,
    scales: Scales = None,
    solves: Solves = Options.solves,
    views: Views = "all",
    engine: Engine = "auto",
    flip: Flip = None,
    initial: Annotated[str | None, typer.Option(metavar="MAP|NUMBER", help="Disparity to start from.")] = None,
    frames: Annotated[str | None, typer.Option(metavar="START:STOP", help="Of a video, these frames alone.")] = None,
    depth: Annotated[
        bool, typer.Option("--depth", help="Insist on depth: refuse a scene without calibration.")
    ] = False,
    points: Points = False,
    normals: Annotated[bool, typer.Option("--normals", help="Give the points normals.")] = False,
    keep_weights: KeepWeights = False,
    keep: Annotated[float | None, typer.Option(help=f"Share of the surest pixels for the points [{KEEP}].")] = None,
    json: Json = False,
    *,
    told: Told,
) -> None:
    """Estimate the disparity of a scene's reference view, and its depth where the scene is calibrated.

    Of a light-field video, every frame is estimated, each started from the one before, into a folder of its own.
    """
    options = Options(method, alpha, epsilon, scales, solves, without)
    engines.check(engine)
    check_flip(flip)
    if not points and (normals or keep is not None):
        raise InputError(f"{'normals' if normals else 'keep'}: is about the points; add --points.")
    share = check_keep(KEEP if keep is None else keep)
    given = _initial(initial)
    refuse_unwritable(out)
    found = open_frames(scene, views=views, **told)
    start = _start(given, initial, found.listing)
    chosen = videos.choose_frames(frames, found, scene)

    def prepare(opened: Scene) -> Scene:
        if flip:
            opened = opened.flipped(x="x" in flip, y="y" in flip)
        if depth or points:
            calibration_of(opened)
        return opened

    def save(result: Result, folder: Path) -> None:
        result.save(folder, points=points, normals=normals, keep=share)

    if found.is_video:
        if keep_weights:
            raise InputError(
                f"keep-weights: {scene} is a video, and weights are kept of a still; leave the option out."
            )
        how: dict[str, Any] = {"initial": start, "engine": engine, "json": json}
        videos.estimate_video(found, chosen, out, options, prepare=prepare, save=save, **how)
        return
    videos.refuse_video_folder(out)
    opened = prepare(found[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the user should know is in result.warnings, and shown below
        result = estimate(opened, options, initial=start, engine=engine, progress=True, keep_weights=keep_weights)
    save(result, out)
    warn(result)
    print((out / SUMMARY).read_text(encoding="utf-8").rstrip() if json else describe(result, out))


@app.command("evaluate")
@opens_scene
def _evaluate(
    disparity: Annotated[Path, typer.Argument(help="A map of disparity, or a folder that `gradcon estimate` wrote.")],
    scene: SceneArgument,
    uncertainty: Annotated[
        bool, typer.Option("--uncertainty", help="Whether the uncertainty means what it says.")
    ] = False,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Plots of the uncertainty [DISPARITY/uncertainty.png].")
    ] = None,
    json: Json = False,
    *,
    told: Told,
) -> None:
    """Compare a disparity map with a scene's ground truth.

    With --uncertainty, also its predicted standard deviation with the true error: how RMSE falls as the least confident
    pixels are dropped, and how large the errors are where they are predicted to be so large.
    """
    from gradcon.files import write_file
    from gradcon.io.maps import read_map
    from gradcon.pictures.uncertainty import uncertainty_picture

    if picture is not None and not uncertainty:
        raise InputError("picture: is of the uncertainty; add --uncertainty.")
    if picture is not None and picture.name != UNCERTAINTY_PICTURE:
        refuse_result_file(picture)
    estimated = read_disparity(disparity)
    frames = open_frames(scene, views=2, **told)  # the truth needs no more views
    opened = frames[0]
    truth = opened.ground_truth
    if truth is None:
        raise InputError(
            f"{scene}: holds no ground truth of {opened.reference_name} to compare with; give a scene that does."
        )
    refuse_another_view(estimated, disparity, frames.listing)
    refuse_another_size(estimated, disparity, opened.shape, f"the ground truth of {scene}")
    found: dict[str, Any] = {"scene": opened.name, "metrics": evaluate(estimated.values, truth)}
    text = metrics_table(found["metrics"])
    if uncertainty:
        if not (disparity.is_dir() or disparity.suffix.lower() == ".npz"):
            raise InputError(f"{disparity}: is one map; --uncertainty takes a result, which holds the uncertainty too.")
        deviation = read_map(disparity, "uncertainty")
        refuse_another_view(deviation, disparity, frames.listing)
        refuse_another_size(deviation, disparity, opened.shape, f"the ground truth of {scene}")
        found["uncertainty"] = evaluate_uncertainty(estimated.values, deviation.values, truth)
        target = picture or (disparity if disparity.is_dir() else disparity.parent) / UNCERTAINTY_PICTURE
        write_file(target, uncertainty_picture(found["uncertainty"], opened.name))
        text += f"\n\n{uncertainty_table(found['uncertainty'])}\n{'plots':30} {target}"
    print(as_json(found) if json else text)


@app.command("demo")
def _demo(out: Out = Path("demo")) -> None:
    """Estimate a light field rendered on the spot.

    It takes half a minute (the first run a minute more, to compile) and compares the result with the exact truth.
    """
    from gradcon.cli import demo_run as demo

    refuse_unwritable(out)
    result = demo.run(out)
    warn(result)
    print(describe(result, out))
    page = (out / demo.PAGE).resolve()
    print(f"{'views':11} {out / demo.FOLDER}: to try other commands on")
    print(f"{'page':11} {out / demo.PAGE}: to look at it, open {page.as_uri()} in a browser")


def _initial(text: str | None) -> float | Map | None:
    """A number, or a map of disparity."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return read_disparity(Path(text))


def _start(given: float | Map | None, told: str | None, scene: Listing) -> Any:
    """What to start from, as `gradcon.estimate` takes it, if it belongs to the scene."""
    if given is None or isinstance(given, float):
        return given
    refuse_another_view(given, Path(told or ""), scene)
    return given.values
