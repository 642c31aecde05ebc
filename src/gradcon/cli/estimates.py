"""`gradcon estimate`, `evaluate` and `demo`."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from gradcon import Result, Scene, engines, estimate, evaluate, open_frames, open_scene
from gradcon.cli import videos
from gradcon.cli.app import Json, Out, Reference, SceneArgument, SizeFactor, app, as_json, refuse_unwritable
from gradcon.depth import calibration_of
from gradcon.errors import InputError
from gradcon.messages import describe, metrics_table, warn
from gradcon.options import Options
from gradcon.points import KEEP, check_keep


@app.command("estimate")
def _estimate(
    scene: SceneArgument,
    out: Out,
    method: Annotated[str, typer.Option(help="gcm, naive, progressive or coarse-to-fine.")] = "gcm",
    without: Annotated[str | None, typer.Option(help="Leave a term of gcm out: gradient or scale.")] = None,
    alpha: Annotated[float, typer.Option(help="Weight of the smoothness term.")] = Options.alpha,
    epsilon: Annotated[float, typer.Option(help="Noise of the images, whose range is 0 to 1.")] = Options.epsilon,
    scales: Annotated[int | None, typer.Option(help="Number of scales; by default the method's own.")] = None,
    solves: Annotated[int, typer.Option(help="At most so many solves.")] = Options.solves,
    views: Annotated[str, typer.Option(help="Which views to use: cross, star, all, or the N nearest.")] = "all",
    engine: Annotated[str, typer.Option(help="auto, cuda, cpu or reference.")] = "auto",
    pattern: Annotated[str | None, typer.Option(help='File names of the views: "x_{row}_{col}.png".')] = None,
    reference: Reference = None,
    size_factor: SizeFactor = None,
    flip: Annotated[str | None, typer.Option(help="Turn baselines around along x, y or xy.")] = None,
    initial: Annotated[str | None, typer.Option(metavar="PFM|NUMBER", help="Disparity to start from.")] = None,
    frames: Annotated[str | None, typer.Option(metavar="START:STOP", help="Of a video, these frames alone.")] = None,
    depth: Annotated[bool, typer.Option("--depth", help="Refuse a scene whose depth cannot be known.")] = False,
    points: Annotated[bool, typer.Option("--points", help="Write points.ply too, a point cloud.")] = False,
    normals: Annotated[bool, typer.Option("--normals", help="Give the points normals.")] = False,
    keep: Annotated[float | None, typer.Option(help=f"Share of the surest pixels for the points [{KEEP}].")] = None,
    json: Json = False,
) -> None:
    """Estimate the disparity of a scene's reference view, and its depth where the scene is calibrated.

    Of a light-field video, every frame is estimated, each started from the one before, into a folder of its own.
    """
    options = Options(method, alpha, epsilon, scales, solves, without)
    engines.check(engine)
    if flip not in (None, "x", "y", "xy"):
        raise InputError(f"flip: {flip!r} is not one of x, y, xy.")
    if not points and (normals or keep is not None):
        raise InputError(f"{'normals' if normals else 'keep'}: is about the points; add --points.")
    share = check_keep(KEEP if keep is None else keep)
    start = _initial(initial)
    refuse_unwritable(out)
    found = open_frames(scene, views=views, reference=reference, pattern=pattern, size_factor=size_factor)
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
        how: dict[str, Any] = {"initial": start, "engine": engine, "json": json}
        videos.estimate_video(found, chosen, out, options, prepare=prepare, save=save, **how)
        return
    opened = prepare(found[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the user should know is in result.warnings, and shown below
        result = estimate(opened, options, initial=start, engine=engine, progress=True)
    save(result, out)
    warn(result)
    print(as_json(result.summary()) if json else describe(result, out))


@app.command("evaluate")
def _evaluate(
    disparity: Annotated[Path, typer.Argument(help="A PFM, or a folder that `gradcon estimate` wrote.")],
    scene: SceneArgument,
    reference: Reference = None,
    size_factor: SizeFactor = None,
    json: Json = False,
) -> None:
    """Compare a disparity map with a scene's ground truth."""
    from gradcon.io.pfm import read_pfm

    estimated = read_pfm(disparity / "disparity.pfm" if disparity.is_dir() else disparity)
    opened = open_scene(scene, views=2, reference=reference, size_factor=size_factor)  # the truth needs no more views
    if opened.ground_truth is None:
        raise InputError(f"{scene}: holds no ground truth to compare with; give a scene that does.")
    metrics = evaluate(estimated, opened.ground_truth)
    print(as_json({"scene": opened.name, "metrics": metrics}) if json else metrics_table(metrics))


@app.command("demo")
def _demo(out: Out = Path("demo")) -> None:
    """Estimate a light field rendered on the spot.

    It takes half a minute (the first run a minute more, to compile) and compares the result with the exact truth.
    """
    from gradcon import demo

    refuse_unwritable(out)
    result = demo.run(out)
    warn(result)
    print(describe(result, out))
    print(f"{'reference':11} {out / demo.PICTURE}: what the reference camera sees")


def _initial(text: str | None) -> Any:
    """A number, or the map in a PFM."""
    from gradcon.io.pfm import read_pfm

    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return read_pfm(text)
