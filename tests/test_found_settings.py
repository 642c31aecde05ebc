"""The settings that the paper's methods find from the images."""

import numpy as np
import pytest
from scipy import ndimage

from gradcon import Options, Scene, estimate, synth
from gradcon.methods.found_settings import found
from gradcon.methods.loop import minimise
from gradcon.methods.options import PAPER_EPSILON
from gradcon.result.metrics import evaluate


@pytest.mark.parametrize(
    ("low", "high", "scales", "start"),
    [
        (-1.5, 2.0, 3, 0.0),  # a light field
        (-5.3, 3.9, 4, 0.0),
        (2.4, 13.4, 5, 2.4),  # an array whose surfaces all are in front
        (-13.4, -2.4, 5, -2.4),
        (-0.8, 17.6, 5, 0.0),
        (13.3, 55.7, 7, 13.3),
        (0.0, 1e6, 8, 0.0),
        (None, None, 3, 0.0),
    ],
)
def test_scales_and_start_follow_from_the_range(low, high, scales, start):
    options, initial = found(Options("gcm"), low, high, None, 1.0)
    assert (options.scales, initial) == (scales, start)


def test_the_range_counts_in_pixels_of_the_nearest_view():
    options, start = found(Options("gcm"), 24.0, 134.0, None, 0.1)
    assert (options.scales, start) == (5, 24.0)


def test_epsilon_follows_from_the_noise_and_stays_the_papers_in_clean_images():
    epsilons = [found(Options("gcm"), -1, 1, noise, 1.0)[0].epsilon for noise in (None, 0.0, 0.004, 5 / 255, 15 / 255)]
    assert epsilons[:3] == [PAPER_EPSILON] * 3
    assert 0.003 < epsilons[3] < 0.01 < epsilons[4] < 0.1


def test_what_is_given_stays():
    given = Options("gcm", scales=2, epsilon=0.01, alpha=0.3)
    assert found(given, 2, 40, 0.1, 1.0)[0] == given
    assert found(Options(), 2, 40, 0.1, 1.0)[0] == Options()
    assert found(Options("naive"), 2, 40, 0.0, 1.0)[0].scales == 1  # its definition


def test_without_a_look_the_papers_settings_are_used_and_recorded():
    scene = synth.render("planes", (48, 48), grid=3)
    run = minimise(scene, Options("gcm", solves=1))
    assert run.choices() == {"scales": 3, "epsilon": PAPER_EPSILON}
    assert Options("gcm").as_in_the_paper() == Options("gcm", scales=3, epsilon=PAPER_EPSILON, gains=False)
    assert Options().as_in_the_paper() == Options()
    given = estimate(scene, Options("gcm", solves=1, epsilon=0.01, scales=2), check_directions=False)
    assert (given.parameters["epsilon"], given.parameters["scales"]) == (0.01, 2)


def noisy(scene, sigma, seed=0):
    rng = np.random.default_rng(seed)
    views = [np.clip(view + rng.normal(0, sigma, view.shape), 0, 1) for view in (scene.reference, *scene.targets)]
    return Scene(views[0], views[1:], scene.baselines, ground_truth=scene.ground_truth)


def test_the_found_epsilon_pays_in_noisy_images():
    scene = noisy(synth.render("occlusion", (128, 128), grid=5), 30 / 255)
    settings, _ = found(Options("gcm"), -1.5, 1.5, 30 / 255, 1.0)
    paper, own = (
        evaluate(minimise(scene, options).disparity(), scene.ground_truth)["rmse"]
        for options in (Options("gcm"), settings)
    )
    assert own < 0.9 * paper


def test_the_found_scales_pay_where_disparities_are_large():
    octaves = [ndimage.gaussian_filter(np.random.default_rng(k).random((96, 160)), 2.0**k) for k in range(2)]
    texture = sum(octave / octave.std() for octave in octaves)
    spectrum = np.fft.fft2(0.5 + 0.1 * texture / texture.std())
    left, middle, right = (np.fft.ifft2(ndimage.fourier_shift(spectrum, (0, b * 13.0))).real for b in (-1, 0, 1))
    scene = Scene(middle, [right, left], [(1, 0), (-1, 0)])
    settings, start = found(Options("gcm"), 0.0, 14.0, 0.0, 1.0)
    error = [
        np.abs(minimise(scene, options, initial=start).disparity()[16:-16, 32:-32] - 13).mean()
        for options in (Options("gcm"), settings)
    ]
    assert error[1] < 0.1 < error[0]
