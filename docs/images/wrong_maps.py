"""Draw the pictures of the guide on wrong maps: python docs/images/wrong_maps.py [CASE ...]

Each case is a synthetic scene with something wrong.  Its picture shows the view, the wrong map, and the map after the
cure.  What gradcon says about each case is printed, for the guide to quote.
"""

import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from gallery import shrink
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from gradcon import Options, Result, Scene, estimate, open_scene, synth

FOLDER = Path(__file__).with_name("wrong")
SIZE = 160
WALL, SKY = [(0.80, 0.79, 0.74)] * 2, [(0.13, 0.28, 0.42), (0.25, 0.50, 0.58), (0.62, 0.74, 0.66), (0.93, 0.86, 0.66)]
EMBER = [(0.35, 0.06, 0.10), (0.80, 0.22, 0.12), (0.97, 0.58, 0.18), (1.0, 0.88, 0.55)]
DOTS = [(0.55, 0.54, 0.50), (0.95, 0.94, 0.88)]

Images = list[NDArray[np.uint8]]  # the reference, then the targets


class Case(NamedTuple):
    """A scene with something wrong, and the same without."""

    wrong: Scene
    cured: Scene
    wrong_options: Options = Options()
    cured_options: Options = Options()


def columns_reversed() -> Case:
    good = photos()
    return Case(changed(good, baselines=good.baselines * (-1, 1)), good)


def axes_exchanged() -> Case:
    good = photos()
    return Case(changed(good, baselines=good.baselines[:, ::-1]), good)


def near_and_far() -> Case:
    good = photos()
    return Case(changed(good, baselines=-good.baselines), good)


def exposures() -> Case:
    rng, good = np.random.default_rng(0), photos()
    views = [images(good)[0], *(shade(image * rng.uniform(0.3, 1)) for image in images(good)[1:])]
    return Case(changed(good, views), changed(good, views), Options(gains=False))


def out_of_place() -> Case:
    rng, good = np.random.default_rng(2), photos()

    def turned(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
        shift = tuple(1.2 * rng.normal(size=2))
        return np.asarray(Image.fromarray(image).rotate(2 * rng.normal(), Image.Resampling.BICUBIC, translate=shift))

    views = [images(good)[0], *map(turned, images(good)[1:])]
    return Case(changed(good, views), changed(good, views), cured_options=Options(align=True))


def noise() -> Case:
    noisy = changed(photos(), noisy_views(photos(), 25))
    few = [0, 1]
    targets = [noisy.target_names[t] for t in few]
    views = [images(noisy)[k] for k in (0, *(1 + t for t in few))]
    return Case(changed(noisy, views, noisy.baselines[few], target_names=targets), noisy)


def copies() -> Case:
    good = photos()
    return Case(changed(good, images(good)[:1] * len(good.colours)), good)


def tiles() -> Case:
    good = synth.render("occlusion", (SIZE, SIZE), grid=5, views="all")
    array = np.empty((5, 5, SIZE, SIZE, 3), np.uint8)
    for (x, y), image in zip([(0, 0), *good.baselines.astype(int)], images(good), strict=True):
        array[2 - y, 2 - x] = image
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tiles.png"
        Image.fromarray(array.transpose(0, 2, 1, 3, 4).reshape(5 * SIZE, 5 * SIZE, 3)).save(path)
        return Case(open_scene(path, grid=(5, 5), micro_images=True), open_scene(path, grid=(5, 5)))


def no_texture() -> Case:
    def world(wall: Callable[[synth.Painter], Any]) -> Callable[[synth.Painter], synth.World]:
        return lambda paint: synth.World(
            [
                synth.patch(wall(paint), (0, 0, 2.9), (0.6, 0)),
                synth.ball(paint.clouds(20, SKY), (-0.35, 0.1, 2.1), 0.3),
                synth.patch(paint.clouds(40, EMBER), (0.4, 0, 2.0), (0, 0), 0.1, synth.box(0.3, 0.6)),
            ]
        )

    scenes = []
    for wall in (lambda paint: paint.clouds(10, WALL, 0.008), lambda paint: paint.clouds(10, DOTS)):
        synth.SCENES["wall"] = world(wall)
        good = synth.render("wall", (SIZE, SIZE))
        scenes.append(changed(good, noisy_views(good, 3)))
    return Case(*scenes)


def far_start() -> Case:
    synth.SCENES["wide"] = lambda paint: replace(synth.SCENES["sphere"](paint), baseline=0.1, focus=synth.NO_FOCUS)
    good = changed(synth.render("wide", (SIZE, SIZE), grid=3))
    return Case(good, good, Options("gcm", scales=1), Options("gcm"))


CASES = {
    case.__name__.replace("_", "-"): case
    for case in (
        columns_reversed, axes_exchanged, near_and_far, exposures, out_of_place,
        noise, copies, tiles, no_texture, far_start,
    )
}  # fmt: skip


def photos() -> Scene:
    return synth.render("occlusion", (SIZE, SIZE))


def images(scene: Scene) -> Images:
    return [np.moveaxis(np.asarray(planes), 0, -1) for planes in scene.colours]


def changed(scene: Scene, views: Images | None = None, baselines: Any = None, **more: Any) -> Scene:
    """Return the scene with other views or baselines, under the name that the guide uses."""
    views = images(scene) if views is None else views
    told = {"target_names": scene.target_names, "reference_name": scene.reference_name, **more}
    baselines = scene.baselines if baselines is None else baselines
    return Scene(views[0], views[1:], baselines, ground_truth=scene.ground_truth, name="photos", **told)


def noisy_views(scene: Scene, sigma: float) -> Images:
    rng = np.random.default_rng(0)
    return [shade(image + rng.normal(0, sigma, image.shape)) for image in images(scene)]


def shade(image: NDArray[Any]) -> NDArray[np.uint8]:
    return np.clip(np.rint(image), 0, 255).astype(np.uint8)


def results(case: Case) -> tuple[Result, Result]:
    """Estimate a case without and with its cure."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the results hold them
        initial = 0.0 if case.wrong_options.method == "gcm" else None
        return estimate(case.wrong, case.wrong_options, initial=initial), estimate(case.cured, case.cured_options)


def draw(case: Case, wrong: Result, cured: Result, path: Path) -> None:
    """Draw the view and both maps, in the colours that suit the cured one."""
    low, high = np.percentile(cured.disparity, (1, 99))
    figure = Figure(figsize=(6.6, 2.5), layout="constrained")
    view, bad, good = figure.subplots(1, 3)
    view.imshow(images(case.wrong)[0])
    for axes, result in ((bad, wrong), (good, cured)):
        axes.imshow(result.disparity, vmin=low, vmax=high, interpolation="nearest")
    for axes, title in ((view, "the view"), (bad, "wrong"), (good, "after the cure")):
        axes.set_title(title, fontsize=10, pad=4)
        axes.set_axis_off()
    figure.savefig(path, dpi=80)
    shrink(path, path)


def main(names: list[str]) -> None:
    """Draw the named cases, or all of them."""
    FOLDER.mkdir(exist_ok=True)
    for name, make in CASES.items():
        if not names or name in names:
            case = make()
            wrong, cured = results(case)
            draw(case, wrong, cured, FOLDER / f"{name}.png")
            for label, result in (("wrong", wrong), ("cured", cured)):
                print(f"  {label}: {result.warnings}")
                print("\n".join(f"    {line}" for line in str(result.summary()).splitlines()))


if __name__ == "__main__":
    main(sys.argv[1:])
