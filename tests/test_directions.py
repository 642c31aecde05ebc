"""Reversed cameras cause a warning; correct ones do not."""

import numpy as np
import pytest

from gradcon import InputError, Options, Scene, estimate, synth

pytestmark = pytest.mark.slow

OPTIONS = Options("gcm", solves=25)


@pytest.fixture(scope="module", params=["occlusion", "sphere"])
def scene(request):
    return synth.render(request.param, (192, 192))


def test_right_directions_pass_silently(scene, recwarn):
    assert estimate(scene, OPTIONS).warnings == []
    assert not recwarn.list


def test_all_baselines_reversed(scene):
    with pytest.warns(UserWarning, match="near and far|Near and far"):
        result = estimate(scene.flipped(x=True, y=True), OPTIONS)
    assert "--flip xy" in result.warnings[0]


@pytest.mark.parametrize("axis", ["x", "y"])
def test_one_axis_reversed(scene, axis):
    with pytest.warns(UserWarning, match="laid out differently"):
        estimate(scene.flipped(**{axis: True}), OPTIONS)


def test_a_row_of_cameras_reversed():
    scene = synth.render("occlusion", (192, 192))
    row = [t for t, B in enumerate(scene.baselines) if B[1] == 0]
    line = Scene(scene.reference, scene.targets[row], -scene.baselines[row])
    with pytest.warns(UserWarning, match="reversed"):
        estimate(line, OPTIONS)


def test_flipping_twice_changes_nothing_and_cameras_cannot_be_flipped(scene):
    back = scene.flipped(x=True).flipped(x=True)
    assert np.array_equal(back.baselines, scene.baselines)
    assert back.fingerprint() == scene.fingerprint()
    with pytest.raises(InputError, match="planar"):
        synth.render("rotated", (32, 32), grid=3).flipped(x=True)
