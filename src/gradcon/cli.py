"""The command `gradcon`: parse, call the API, print.

Results go to stdout, progress, warnings and errors to stderr.  Exit codes: 0, 1 for work that is done but for what it
had to leave out, 2 for an input that cannot be used (one sentence says why), 3 for a GPU that failed, 130 for Ctrl-C.
Whatever else goes wrong is a bug, and shows its traceback.

Heavy libraries are imported by the commands that use them, so that `gradcon --help` is quick.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from gradcon import __version__, engines, estimate, evaluate, open_scene
from gradcon.errors import DeviceError, InputError
from gradcon.messages import RESULT_FILES, describe, metrics_table, warn
from gradcon.options import Options

# Plain help and errors: rich would double the time that --help takes, and frame what should be one sentence.
app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
# typer does not export the base of its usage errors, and where it lives depends on typer's version.
UsageError: Any = typer.BadParameter.__bases__[0]

GPU_FAILED = 3  # exit code

Out = Annotated[Path, typer.Option(help="Folder to write into; created where it is missing.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on stdout.")]
SceneArgument = Annotated[Path, typer.Argument(help="Folder of the views, or a rig.toml.")]
Reference = Annotated[str | None, typer.Option(metavar="FILE", help="File name of the reference view.")]
SizeFactor = Annotated[float | None, typer.Option(help="Middlebury: what ground-truth grey values are divided by.")]


def run(arguments: list[str] | None = None) -> NoReturn:
    """The command itself: `main`, and the end of the process."""
    code = main(arguments)
    if code == GPU_FAILED:
        # What CuPy would clean up is lost, and each failure to do so would be reported.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    try:
        code = app(arguments, standalone_mode=False, prog_name="gradcon")
        sys.stdout.flush()  # a reader that has gone is noticed here, not when Python shuts down
        return int(code or 0)
    except (InputError, DeviceError) as error:
        return _fail(str(error), code=GPU_FAILED if isinstance(error, DeviceError) else 2)
    except UsageError as error:
        where = error.ctx.command_path if error.ctx else "gradcon"
        message = " ".join(error.format_message().split())
        return _fail(f"{message.removesuffix('.')}{'' if message.endswith('?') else ';'} see {where} --help.")
    except MemoryError:
        return _fail("there is not enough memory for this scene; use fewer views (--views) or smaller images.")
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


@app.callback(invoke_without_command=True)
def _gradcon(
    context: typer.Context, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    """Disparity and confidence from many views of a scene, by the Gradient Consistency Model."""
    if version:
        print(f"gradcon {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


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
    json: Json = False,
) -> None:
    """Estimate the disparity of a scene's reference view."""
    options = Options(method, alpha, epsilon, scales, solves, without)
    engines.check(engine)
    if flip not in (None, "x", "y", "xy"):
        raise InputError(f"flip: {flip!r} is not one of x, y, xy.")
    start = _initial(initial)
    _refuse_unwritable(out)
    opened = open_scene(scene, views=views, reference=reference, pattern=pattern, size_factor=size_factor)
    if flip:
        opened = opened.flipped(x="x" in flip, y="y" in flip)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the user should know is in result.warnings, and shown below
        result = estimate(opened, options, initial=start, engine=engine, progress=True)
    result.save(out)
    warn(result)
    print(_json(result.summary()) if json else describe(result, out))


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
    print(_json({"scene": opened.name, "metrics": metrics}) if json else metrics_table(metrics))


@app.command("synth")
def _synth(
    name: Annotated[str | None, typer.Argument(help="A scene; --list names them.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder to write into; created where it is missing.")] = None,
    size: Annotated[str, typer.Option(help="Pixels of a view: 256, or WIDTHxHEIGHT.")] = "256",
    views: Annotated[str, typer.Option(help="Which of the 9 x 9 views: cross, star, all, or the N nearest.")] = "cross",
    seed: Annotated[int, typer.Option(help="Of the textures.")] = 0,
    list_scenes: Annotated[bool, typer.Option("--list", help="List the scenes.")] = False,
) -> None:
    """Write a synthetic scene with exact ground truth.

    It becomes a folder of the 4D Light Field Benchmark, or for `rotated`, whose cameras are no grid, with a rig.toml.
    """
    from gradcon import synth

    if list_scenes:
        for known, world in synth.SCENES.items():
            print(f"{known:12} {(world.__doc__ or '').strip().splitlines()[0]}")
        return
    if name not in synth.SCENES:
        asked = "name: no scene is named" if name is None else f"{name}: is not a synthetic scene"
        raise InputError(f"{asked}; choose one of {', '.join(synth.SCENES)}.")
    if out is None:
        raise InputError("out: no folder is given to write the scene into; add --out DIR.")
    _refuse_unwritable(out)
    folder = synth.write(name, out, _size(size), views=views, seed=seed)
    print(f"{name}: wrote {len(list(folder.glob('*.png')))} views of {size} x {size}, with ground truth, to {folder}")


@app.command("bench")
def _bench(
    engine: Annotated[str, typer.Option(help="cpu, cuda or reference.")] = "cpu",
    size: Annotated[int, typer.Option(help="Pixels a side.")] = 512,
    views: Annotated[str, typer.Option(help="Which of the 9 x 9 views: cross, star, all, or the N nearest.")] = "cross",
    scales: Annotated[int, typer.Option(help="Number of scales.")] = 3,
    solves: Annotated[int, typer.Option(help="Solves to take the medians of.")] = 5,
    reference: Annotated[bool, typer.Option(help="Measure the reference engine too, for the ratio.")] = True,
    scene: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Measure on this scene, not on a rendered one.")
    ] = None,
    run_solves: Annotated[int, typer.Option(help="cuda: at most so many solves of the whole runs it times.")] = 40,
    sweep: Annotated[bool, typer.Option("--sweep", help="How the cost grows with pixels and with views.")] = False,
    json: Json = False,
) -> None:
    """Measure time and memory.

    Seconds a solve by stage, the ratio to the reference engine in the same run, and peak memory.  For cuda, times come
    from device events, with the shares of the GPU's bandwidth and arithmetic, and whole runs are timed too.
    """
    from gradcon import bench

    if sweep:
        found = bench.sweep(engine, scales, solves)
        print(_json(found) if json else bench.describe_sweep(found))
    else:
        found = bench.bench(
            engine,
            size=size,
            views=views,
            scales=scales,
            solves=solves,
            reference=reference,
            path=scene,
            run_solves=run_solves,
        )
        print(_json(found) if json else bench.describe(found))


@app.command("demo")
def _demo(out: Out = Path("demo")) -> None:
    """Estimate a light field rendered on the spot.

    It takes half a minute (the first run a minute more, to compile) and compares the result with the exact truth.
    """
    from gradcon import demo

    _refuse_unwritable(out)
    result = demo.run(out)
    warn(result)
    print(describe(result, out))
    print(f"{'reference':11} {out / demo.PICTURE}: what the reference camera sees")


@app.command("reproduce")
def _reproduce(
    out: Out,
    hci: Annotated[Path | None, typer.Option(help="Folder of scenes of the 4D Light Field Benchmark.")] = None,
    middlebury: Annotated[Path | None, typer.Option(help="Folder of scenes of Middlebury 2006.")] = None,
    only: Annotated[str | None, typer.Option(metavar="NAME,...", help="These experiments alone.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Coarser: alpha 0.5 alone, 40 solves.")] = False,
    engine: Annotated[str, typer.Option(help="auto (here the CPU), cuda, cpu or reference.")] = "auto",
    workers: Annotated[int | None, typer.Option(help="Processes; by default one a core, with cuda one.")] = None,
    json: Json = False,
) -> int:
    """Repeat the paper's evaluation on the scenes at hand.

    Experiments: single-scale, multi-scale, alpha, epsilon, middlebury, panels, robustness, scale-ratio, geometry,
    peers.  Finished jobs are kept in DIR/jobs: run it again to continue.  The exit code is 1 if anything was left out.
    """
    from gradcon.experiments.report import overview
    from gradcon.experiments.reproduce import reproduce

    names = None if only is None else [name.strip() for name in only.split(",") if name.strip()]
    if names == []:
        raise InputError("only: names no experiment; leave it out for all of them.")
    _refuse_unwritable(out, files=())
    try:
        found = reproduce(
            out,
            hci=hci,
            middlebury=middlebury,
            only=names or [],
            quick=quick,
            engine=engine,
            workers=workers,
            progress=True,
        )
    except KeyboardInterrupt:
        print("reproduce: stopped; finished jobs are kept, run it again to continue", file=sys.stderr)
        raise
    if found["replaced"]:
        print(f"{out}: held a run with other settings or scenes; its report is replaced", file=sys.stderr)
    for text in found["left_out"]:
        print(f"left out: {text}", file=sys.stderr)
    print(_json(found) if json else overview(found, out))
    return 1 if found["left_out"] else 0


def _fail(sentence: str, code: int = 2) -> int:
    print(f"gradcon: {sentence}", file=sys.stderr)
    return code


def _json(value: dict[str, Any]) -> str:
    from gradcon.io.results import to_json

    return to_json(value)


def _initial(text: str | None) -> Any:
    """A number, or the map in a PFM."""
    from gradcon.io.pfm import read_pfm

    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return read_pfm(text)


def _size(text: str) -> tuple[int, int]:
    """(height, width) of "256" or "640x480"."""
    parts = text.split("x")
    if len(parts) > 2 or not all(part.isdecimal() and 0 < int(part) <= 8192 for part in parts):
        raise InputError(f"size: {text!r} is neither a number of pixels nor WIDTHxHEIGHT, each from 1 to 8192.")
    return int(parts[-1]), int(parts[0])


def _refuse_unwritable(folder: Path, files: Sequence[str] = RESULT_FILES) -> None:
    """Find out before a long run whether its results can be written, and leave no trace of trying."""
    import tempfile

    from gradcon.io.files import make_folder

    created = make_folder(folder)
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"{folder}: cannot write into this folder ({error.strerror}); choose another.") from None
    finally:
        for path in created:
            path.rmdir()
    for name in files:
        if (folder / name).is_dir():
            raise InputError(f"{folder / name}: is a folder where a result should go; choose another folder.")
