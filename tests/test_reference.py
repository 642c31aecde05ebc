"""The reference engine, which judges the others: properties of the model that hold whatever the images are."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import cg

from engine_cases import data_term, make, random_scene, some_disparity
from gradcon import synth
from gradcon.engines import Weighting
from gradcon.engines.reference import smoothness_operator
from gradcon.methods.schedules import build


def test_weights_of_a_pixel_sum_to_the_number_of_equations():
    """With unit g and R = 1 the diagonal is the sum of the weights: T Q, whatever the noise."""
    scene = random_scene()
    reference = make("reference")(scene)
    (stage,) = build("gcm", scene.baselines, 0.5)
    w = reference.upload(some_disparity(scene))
    N2, fields = reference.noise_powers(w, reference.warp(w, stage), stage, Weighting())
    Z = len(N2) / sum(1 / value for value in N2.values())
    assert sum(Z / value for value in N2.values()) == pytest.approx(3 * len(scene.targets))
    ones = {key: (dI, np.ones_like(g), G) for key, (dI, g, G) in fields.items()}
    reference.noise_powers = lambda *_: (N2, ones)
    assert reference.data_term(w, {}, stage, False).diagonal == pytest.approx(3 * len(scene.targets))


def test_weights_fall_with_the_baseline_inside_a_sector():
    scene = random_scene(baselines=((1, 0), (2, 0), (3, 0), (0, 1)))
    reference = make("reference")(scene)
    (stage,) = build("gcm", scene.baselines, 0.5)
    w = reference.upload(some_disparity(scene))
    N2, _ = reference.noise_powers(w, reference.warp(w, stage), stage, Weighting())
    along_x = [t for t in range(4) if scene.baselines[t, 1] == 0]
    for q in stage.scales:
        for near, far in pairwise(along_x):
            assert (N2[near, q] <= N2[far, q]).all()


def test_the_sampled_weights_are_those_of_the_data_term():
    scene = random_scene((12, 14))
    reference = make("reference")(scene)
    (stage,) = build("gcm", scene.baselines, 0.5)
    w = reference.upload(some_disparity(scene))
    warped = reference.warp(w, stage)
    W = reference.data_term(w, warped, stage, False, sample=1).weights
    W = W * len(stage.views) * len(stage.scales) / W.sum(axis=(2, 3), keepdims=True)  # as the paper normalises them
    fields = {t: reference.linearise(*warped[t], stage.scales) for t in stage.views}
    diagonal = sum(
        W[..., i, j] * fields[t][q][1] ** 2 for i, q in enumerate(stage.scales) for j, t in enumerate(stage.views)
    )
    assert diagonal == pytest.approx(reference.data_term(w, warped, stage, False).diagonal)


def test_multigrid_takes_tens_of_iterations_where_plain_gradients_take_hundreds():
    scene = synth.render("occlusion", (160, 160), grid=5)
    cpu, w = make("cpu")(scene), scene.ground_truth
    (stage,) = build("gcm", scene.baselines, 0.5)
    term = data_term(cpu, w, stage)
    with_multigrid = cpu.solve(cpu.upload(w), term, stage.alpha, True)[1].inner_iterations
    L = smoothness_operator(w.astype(float), True)
    A = sparse.diags_array(term.diagonal.ravel().astype(float)) + stage.alpha * L
    plain = []
    cg(
        A, term.rhs.ravel() - stage.alpha * (L @ w.ravel()), rtol=1e-6, M=sparse.diags_array(1 / A.diagonal()),
        callback=plain.append,
    )  # fmt: skip
    assert with_multigrid <= 15
    assert len(plain) >= 5 * with_multigrid
