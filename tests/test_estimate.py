"""The loop from the outside: known shifts, symmetries, stopping, restarting, odd inputs, the two engines end to end."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from scipy import ndimage

from gradcon import InputError, Options, Scene, estimate, synth
from gradcon.result.stopped import StopReason

CROSS = [(s * k * (a == 0), s * k * (a == 1)) for k in (1, 2) for a in (0, 1) for s in (1, -1)]


def texture(shape, seed=0):
    rng = np.random.default_rng(seed)
    # Not finer than two pixels: on finer texture four cubic taps shift some frequencies by 0.01 px themselves.
    octaves = [ndimage.gaussian_filter(rng.normal(size=shape), s, mode="wrap") * s for s in (2.0, 4.0, 8.0)]
    image = sum(octaves)
    return 0.5 + 0.2 * image / image.std()


def shifted_scene(d, shape=(64, 80), baselines=CROSS, seed=0):
    """Make a flat scene of disparity d: every view is the reference, moved exactly (in the Fourier domain) by B d."""
    spectrum = np.fft.fft2(texture(shape, seed))

    def moved(B):
        return np.fft.ifft2(ndimage.fourier_shift(spectrum, (B[1] * d, B[0] * d))).real

    return Scene(moved((0, 0)), [moved(B) for B in baselines], baselines)


@pytest.mark.parametrize("d", [0.05, -0.3, 0.7, 1.9, -3.2])
@pytest.mark.parametrize("method", ["gcm", "coarse-to-fine"])
def test_known_shifts_are_recovered(d, method):
    result = estimate(shifted_scene(d), Options(method=method))
    inner = result.disparity[12:-12, 12:-12]
    assert np.abs(inner - d).max() < 0.01
    assert np.sqrt(np.mean((inner - d) ** 2)) < 0.004


@pytest.mark.parametrize("method", ["naive", "progressive"])
def test_single_scale_methods_recover_small_shifts(method):
    result = estimate(shifted_scene(0.6), Options(method=method))
    assert np.abs(result.disparity[12:-12, 12:-12] - 0.6).max() < 0.02


def test_large_disparities_need_the_sliding_window():
    scene = shifted_scene(11.0, (96, 160), [(1, 0), (-1, 0), (-2, 0)])
    result = estimate(scene, Options("gcm", scales=6))
    assert np.abs(result.disparity[24:-24, 40:-40] - 11).mean() < 0.05
    assert [row.scales for row in result.history][-1] == (2, 1, 0)


@pytest.mark.slow
def test_both_engines_end_in_the_same_place():
    scene = synth.render("sphere", (72, 80), grid=5)
    choices = (
        Options("gcm", solves=15),
        Options(method="coarse-to-fine", solves=15),
        Options("gcm", solves=8, without="scale"),
    )
    for options in choices:
        a, b = (estimate(scene, options, engine=engine) for engine in ("cpu", "reference"))
        assert abs(a.metrics["rmse"] - b.metrics["rmse"]) < 0.002
        assert np.sqrt(np.mean((a.disparity - b.disparity) ** 2)) < 0.01
        assert np.median(np.abs(a.uncertainty / b.uncertainty - 1)) < 0.02


@pytest.mark.parametrize("method", ["sweep", "gcm"])
def test_rotated_cameras_are_as_accurate_as_a_planar_array(method):
    planar, rotated = (estimate(synth.render(name, (128, 128)), Options(method)) for name in ("parallel", "rotated"))
    assert rotated.metrics["rmse"] < 1.1 * planar.metrics["rmse"]


def transformed(scene, image, vector):
    targets = [image(t) for t in scene.targets]
    return Scene(image(scene.reference), targets, [vector(*B) for B in scene.baselines])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("image", "vector"),
    [
        (np.fliplr, lambda x, y: (-x, y)),
        (np.flipud, lambda x, y: (x, -y)),
        (np.rot90, lambda x, y: (y, -x)),
        (np.transpose, lambda x, y: (y, x)),
    ],
    ids=["left-right", "up-down", "quarter turn", "transposed"],
)
def test_flips_and_turns_of_the_scene_flip_and_turn_the_result(image, vector):
    scene = synth.render("occlusion", (64, 72), grid=5, views="all")
    options = Options("gcm", solves=6).as_in_the_paper()  # what a look finds depends on where its blocks begin
    straight = estimate(scene, options, engine="reference").disparity
    turned = estimate(transformed(scene, image, vector), options, engine="reference").disparity
    assert turned == pytest.approx(image(straight), abs=2e-3)
    fast = estimate(transformed(scene, image, vector), options).disparity
    assert np.abs(fast - image(estimate(scene, options).disparity)).mean() < 1e-3


def test_the_order_of_the_views_does_not_matter():
    scene = synth.render("planes", (48, 56), grid=5, views="all")
    order = np.random.default_rng(0).permutation(len(scene.targets))
    shuffled = Scene(scene.reference, scene.targets[order], scene.baselines[order])
    options = Options("gcm", solves=5)
    a, b = estimate(scene, options), estimate(shuffled, options)
    assert a.disparity.tobytes() == b.disparity.tobytes()
    assert a.uncertainty.tobytes() == b.uncertainty.tobytes()


@pytest.mark.parametrize(("method", "rel"), [("sweep", 1e-2), ("gcm", 1e-5)])  # the sweep stores costs as integers
def test_the_unit_of_the_baselines_scales_the_disparity_and_nothing_else(method, rel):
    scene = shifted_scene(0.8)
    tenfold = Scene(scene.reference, scene.targets, 10 * scene.baselines)
    a, b = estimate(scene, Options(method)), estimate(tenfold, Options(method))
    assert 10 * b.disparity == pytest.approx(a.disparity, rel=rel, abs=1e-6)
    assert 10 * b.uncertainty == pytest.approx(a.uncertainty, rel=rel)
    assert len(a.history) == len(b.history)


def test_a_run_stops_by_itself_and_says_why():
    assert estimate(shifted_scene(0.4)).stopped.reason is StopReason.SWEPT
    result = estimate(shifted_scene(0.4), Options("gcm"))
    assert result.stopped.reason is StopReason.CONVERGED
    assert len(result.history) < Options().solves
    short = estimate(shifted_scene(0.4), Options("gcm", solves=2))
    assert len(short.history) == 2
    assert short.stopped.reason is StopReason.OUT_OF_SOLVES
    early = estimate(shifted_scene(3.0), Options(method="coarse-to-fine", solves=1))
    assert early.stopped.reason is StopReason.OUT_OF_SOLVES_EARLY


def test_a_run_that_has_settled_when_its_solves_are_used_up_has_converged():
    scene = synth.render("sphere", (96, 96), grid=5)
    whole = estimate(scene, Options("gcm"))
    assert whole.stopped.reason is StopReason.CONVERGED
    for solves in (len(whole.history), len(whole.history) - 3):  # at a look, and between two
        cut = estimate(scene, Options("gcm", solves=solves))
        assert len(cut.history) == solves
        assert cut.stopped.reason is StopReason.CONVERGED
        assert "Raise" not in str(cut.stopped)
    moving = estimate(scene, Options("gcm", solves=6))
    assert moving.stopped.reason is StopReason.OUT_OF_SOLVES


def without_a_map(kind):
    """Make a scene whose views agree on no map: images of noise alone, or cameras that stand somewhere else."""
    rng = np.random.default_rng(1)
    if kind == "noise":
        images = rng.random((7, 64, 64))
        return Scene(images[0], images[1:], [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1)])
    scene = synth.render("occlusion", (96, 96), views="all")
    return Scene(scene.reference, scene.targets[rng.permutation(len(scene.targets))], scene.baselines)


@pytest.mark.parametrize("kind", ["noise", "baselines"])
def test_a_run_that_only_jitters_has_not_converged(kind):
    result = estimate(without_a_map(kind), Options("gcm").as_in_the_paper(), check_directions=False)
    assert result.stopped.reason is StopReason.JITTERS
    assert len(result.history) < Options().solves
    for word in ("Not converged", "jitters", "noisier", "baselines", "Raise `epsilon`"):
        assert word in str(result.stopped)


def test_the_little_jitter_that_noise_leaves_is_convergence():
    scene, rng = synth.render("occlusion", (96, 96), grid=5), np.random.default_rng(0)
    noisy = [np.clip(image + rng.normal(0, 15 / 255, image.shape), 0, 1) for image in (scene.reference, *scene.targets)]
    result = estimate(Scene(noisy[0], noisy[1:], scene.baselines), Options("gcm"), check_directions=False)
    assert result.stopped.reason is StopReason.CONVERGED


def test_a_run_continues_from_its_own_state():
    scene = synth.render("sphere", (64, 64), grid=5)
    whole = estimate(scene, Options("gcm", solves=8))
    half = estimate(scene, Options("gcm", solves=4))
    rest = estimate(scene, Options("gcm", solves=4), initial=half.disparity)
    assert rest.disparity == pytest.approx(whole.disparity, abs=1e-4)


def test_a_number_to_start_from_replaces_the_sliding_window():
    scene = shifted_scene(9.0, (64, 120), [(1, 0), (-1, 0)])
    near = estimate(scene, Options("gcm"), initial=8.5)
    assert np.abs(near.disparity[12:-12, 24:-24] - 9).mean() < 0.02


@pytest.mark.parametrize(("method", "end"), [("sweep", 2), ("gcm", 3)])
def test_callback_sees_every_solve_and_may_stop(method, end):
    seen = []

    def look(row, disparity):
        seen.append((row.solve, disparity.shape))
        return row.solve == end

    result = estimate(shifted_scene(0.4, (32, 40)), Options(method), callback=look)
    assert seen == [(k, (32, 40)) for k in range(1, end + 1)]
    assert result.stopped.reason is StopReason.CALLBACK


def test_a_result_is_equal_to_itself_alone():
    scene = synth.render("planes", (24, 24), views=3)
    one, other = (estimate(scene, Options("gcm", solves=1), engine="reference") for _ in range(2))
    assert one == one  # noqa: PLR0124
    assert one != other
    assert [other, one].index(one) == 1
    assert len({one, other}) == 2


def test_history_and_summary_say_what_happened():
    scene = synth.render("planes", (40, 40), grid=3)
    result = estimate(scene, Options("gcm", solves=3))
    assert [row.solve for row in result.history] == [1, 2, 3]
    last = result.history[-1]
    assert last.rmse == pytest.approx(result.metrics["rmse"], rel=1e-6)
    assert last.views == 5
    assert last.inner_iterations > 0
    assert last.seconds > 0
    assert set(asdict(last)) >= {"step_mean", "step_max", "clipped"}
    summary = json.loads(json.dumps(result.summary(), allow_nan=False))
    assert summary["parameters"]["alpha"] == 0.5
    assert summary["parameters"]["scales"] == 3
    assert summary["source"]["sha256"] == scene.fingerprint()
    assert summary["disparity"]["sign"] == "positive is nearer"
    assert summary["engine"] == "cpu"


@pytest.mark.parametrize("method", ["sweep", "gcm"])
def test_uncertainty_is_smaller_where_there_is_texture(method):
    scene = shifted_scene(0.5, (64, 96))
    flat = np.ones((64, 96))
    flat[:, 48:] = 0
    views = [0.5 + (image - 0.5) * flat for image in (scene.reference, *scene.targets)]
    uncertainty = estimate(Scene(views[0], views[1:], scene.baselines), Options(method)).uncertainty
    assert np.median(uncertainty[:, :36]) < 0.1 * np.median(uncertainty[:, 64:])


BLANK = {
    "constant": np.full((30, 40), 0.5),
    "black": np.zeros((30, 40)),
    "one row": texture((1, 50)),
    "one column": texture((50, 1)),
    "one pixel": np.full((1, 1), 0.3),
    "tiny": texture((3, 4)),
}


@pytest.mark.parametrize("engine", ["cpu", "reference"])
@pytest.mark.parametrize("method", ["gcm", "naive", "coarse-to-fine"])
@pytest.mark.parametrize("image", BLANK.values(), ids=BLANK.keys())
def test_odd_images_give_a_finite_result(image, method, engine):
    result = estimate(Scene(image, [image, image], [(1, 0), (0, 1)]), Options(method=method, solves=4), engine=engine)
    assert np.isfinite(result.disparity).all()
    assert np.isfinite(result.uncertainty).all()
    assert (result.uncertainty > 0).all()


@pytest.mark.parametrize(
    "options",
    [
        {"alpha": 0}, {"alpha": -1}, {"alpha": float("nan")}, {"alpha": "big"}, {"epsilon": 0},
        {"epsilon": float("inf")}, {"solves": 0}, {"solves": 2.5}, {"scales": 0}, {"scales": 99}, {"method": "gmc"},
    ],
)  # fmt: skip
def test_options_refuse_nonsense_by_field(options):
    with pytest.raises(InputError, match=next(iter(options))):
        Options(**options)


@pytest.mark.parametrize(
    "options",
    [{"alpha": 0.4}, {"epsilon": 1e-3}, {"scales": 3}, {"solves": 40}],
    ids=lambda options: next(iter(options)),
)
def test_a_parameter_that_the_method_lacks_is_refused(options):
    (name,) = options
    with pytest.raises(InputError, match=f"^{name}: the method sweep has no such parameter; .* use the method gcm"):
        Options(**options)
    assert Options("gcm", **options).parameters()[name] == options[name]
    assert Options(**{name: getattr(Options, name)}) == Options()


def test_a_result_lists_the_parameters_that_its_method_has():
    scene = shifted_scene(0.1, (32, 40))
    default = estimate(scene, check_directions=False)
    assert list(default.parameters) == [
        "method",
        "without",
        "disparity_range",
        "noise",
        "gains",
        "align",
        "labels",
        "initial",
    ]
    assert (default.parameters["method"], default.parameters["initial"]) == ("sweep", None)
    again = estimate(scene, Options(without="median"), initial=default.disparity, check_directions=False)
    assert (again.parameters["without"], again.parameters["initial"]) == ("median", "a map")
    paper = estimate(scene, Options("naive", solves=1), check_directions=False)
    expected = {"method": "naive", "alpha": 0.5, "epsilon": 2e-4, "scales": 1, "solves": 1, "without": None}
    found = {"disparity_range": None, "noise": None, "gains": True, "align": False, "use_inspection": True}
    assert paper.parameters == {**expected, **found, "choices": {}, "initial": 0.0}


@pytest.mark.parametrize("method", ["sweep", "gcm"])
@pytest.mark.parametrize("initial", [np.zeros((3, 3)), np.full((32, 40), np.nan), float("inf"), "nothing"])
def test_bad_starts_are_refused(initial, method):
    with pytest.raises(InputError, match="initial"):
        estimate(shifted_scene(0.1, (32, 40)), Options(method), initial=initial)


@pytest.mark.parametrize("number", [0, 0.5, np.float32(2), np.zeros(())])
def test_a_search_of_all_disparities_starts_from_no_number(number):
    with pytest.raises(InputError, match="is a number, but the method sweep searches all disparities"):
        estimate(shifted_scene(0.1, (32, 40)), initial=number)


def test_unknown_engine_is_refused():
    with pytest.raises(InputError, match="engine"):
        estimate(shifted_scene(0.1, (32, 40)), engine="quantum")


def test_a_strip_and_a_truth_without_known_pixels_work():
    rng = np.random.default_rng(0)
    images = rng.random((3, 16, 1900)).astype(np.float32)
    truth = np.full((16, 1900), np.nan)
    result = estimate(
        Scene(images[0], images[1:], [(1, 0), (0, 1)], ground_truth=truth), Options("gcm", solves=1), engine="cpu"
    )
    assert result.disparity.dtype == np.float32
    assert result.metrics is None
    assert result.history[0].rmse is None
