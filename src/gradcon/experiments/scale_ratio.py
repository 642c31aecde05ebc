"""The figure of the appendix: the ratio of the powers of J'_A and J'_B as sigma_q grows, for four image spectra.

J'_A = G_sigma * g^2 and J'_B = g (G_sigma * g), with g the image filtered by a derivative of Gaussian (sigma_0 =
1 / sqrt(2)) along x.  For a Gaussian random image with autocorrelation R of g, P = R(0) and h = G_sigma * g,

    E J'_A^2 = P^2 + 2 (G_{sqrt(2) sigma} * R^2)(0)         E J'_B^2 = P E h^2 + 2 (E g h)^2

because fourth moments of Gaussians are sums of products of second moments.  Everything is a sum over frequencies.  The
image is limited to [-pi, pi] and sampled twice as finely as that requires, so that g^2 does not alias.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gradcon.experiments.experiment import Claim, Column, Context, Experiment, Findings, Picture, Row
from gradcon.jobs import Job, Outcome, Outcomes
from gradcon.pictures import figures

SPECTRA = {"white": 0, "1/f": 1, "1/f^2": 2, "1/f^3": 3}  # power spectrum: f^-exponent
SIGMAS = [0.5, *(2**q / 2**0.5 for q in np.arange(0, 4.01, 0.5))]
SIGMA_0 = 1 / 2**0.5
PIXELS = 256
SAMPLES = 24
NEAR_ZERO = 6  # cells of the frequency grid around zero that are averaged over their area

Floats = NDArray[np.float64]


def jobs(context: Context) -> list[Job]:
    samples = SAMPLES // 4 if context.setup.quick else SAMPLES
    return [
        Job(
            function=ratios,
            parameters={"exponent": exponent, "sigmas": SIGMAS, "pixels": PIXELS, "samples": samples},
            inputs="",  # the images are drawn at random, from a fixed seed
            label=f"scale ratio, {name} spectrum",
            cost=0.1 * samples,
        )
        for name, exponent in SPECTRA.items()
    ]


def conclude(context: Context, outcomes: Outcomes) -> Findings:
    rows: dict[str, Row] = {}
    for name, job in zip(SPECTRA, jobs(context), strict=True):
        outcome = outcomes[job]
        if outcome is not None:
            rows[name] = {"label": name, **outcome.record}
    if not rows:
        return Findings()
    shown = [f"{sigma:.3f}" for sigma in SIGMAS[1::2]]
    grows = {name: np.diff([row["ratio"][f"{s:.3f}"] for s in SIGMAS]).min() > 0 for name, row in rows.items()}
    apart = max(
        abs(row["simulated"][sigma] / row["ratio"][sigma] - 1) for row in rows.values() for sigma in row["ratio"]
    )
    last = shown[-1]
    values = ", ".join(f"{row['ratio'][last]:.3g} ({name})" for name, row in rows.items())
    return Findings(
        rows=rows,
        columns=[
            Column("label", "spectrum", "s"),
            *(Column(f"ratio|{sigma}", f"sigma {sigma}", ".3g") for sigma in shown),
        ],
        claims=[
            Claim(
                "scale-ratio",
                all(grows.values()),
                f"The ratio of the expected powers grows with sigma for {sum(grows.values())} of {len(grows)} spectra. "
                f"At sigma = {last} it is {values}. Simulation and theory agree within {100 * apart:.1f} %.",
            )
        ],
        pictures=[
            Picture(
                "scale-ratio",
                "Expected power of J'_A divided by that of J'_B: lines from the spectra, dots from simulated images.",
                lambda: figures.scale_ratio(rows),
            )
        ],
    )


def ratios(exponent: float, sigmas: list[float], pixels: int, samples: int) -> Outcome:
    """Compute P_JA / P_JB for each sigma, from the spectrum and from `samples` random images of pixels x pixels."""
    step = 2 * np.pi / pixels
    k = np.fft.fftfreq(2 * pixels, d=1 / (2 * pixels)).astype(int)  # two samples per pixel
    ky, kx = np.meshgrid(k, k, indexing="ij")
    w2 = step**2 * (kx**2 + ky**2)
    power = _density(step * kx, step * ky, exponent)  # of g
    near = np.maximum(np.abs(kx), np.abs(ky)) <= NEAR_ZERO
    power[near] = _cell_means(kx[near], ky[near], step, exponent)
    power /= power.sum()  # so that P = 1
    lowpass = {f"{sigma:.3f}": np.exp(-(sigma**2) * w2 / 2) for sigma in sigmas}
    return Outcome(
        {
            "ratio": _expected(power, lowpass),
            "simulated": _simulated(power, lowpass, samples),
        }
    )


def _density(wx: Floats, wy: Floats, exponent: float) -> Floats:
    """Return the power of g: that of the image, limited to [-pi, pi], filtered by a derivative of Gaussian along x."""
    w2 = wx**2 + wy**2
    with np.errstate(divide="ignore", invalid="ignore"):
        density = np.where(w2 > 0, w2 ** (-exponent / 2) * wx**2, 0) * np.exp(-(SIGMA_0**2) * w2)
    return np.where((np.abs(wx) <= np.pi) & (np.abs(wy) <= np.pi), density, 0.0)


def _cell_means(kx: Floats, ky: Floats, step: float, exponent: float) -> Floats:
    """Average over cells of the frequency grid, because near zero steep spectra change too much within a cell."""
    inside = (np.arange(64) - 31.5) / 64
    dy, dx = np.meshgrid(inside, inside, indexing="ij")
    fine = _density(step * (kx[:, None] + dx.ravel()), step * (ky[:, None] + dy.ravel()), exponent)
    return np.asarray(fine.mean(axis=1))


def _expected(power: Floats, lowpass: dict[str, Floats]) -> dict[str, float]:
    R = np.fft.fft2(power).real  # R(0) = P = 1
    R2 = np.fft.ifft2(R**2).real  # spectrum of R^2
    found = {}
    for name, G in lowpass.items():
        JA = 1 + 2 * (R2 * G**2).sum()
        JB = (power * G**2).sum() + 2 * (power * G).sum() ** 2
        found[name] = float(JA / JB)
    return found


def _simulated(power: Floats, lowpass: dict[str, Floats], samples: int) -> dict[str, float]:
    rng = np.random.default_rng(0)
    JA2, JB2 = dict.fromkeys(lowpass, 0.0), dict.fromkeys(lowpass, 0.0)
    for _ in range(samples):
        noise = np.fft.fft2(rng.standard_normal(power.shape)) / power.shape[0]  # unit power at every frequency
        G_g = np.sqrt(power) * noise * power.size
        g = np.fft.ifft2(G_g).real
        G_g2 = np.fft.fft2(g**2)
        for name, G in lowpass.items():
            JA2[name] += float(np.mean(np.fft.ifft2(G_g2 * G).real ** 2))
            JB2[name] += float(np.mean((g * np.fft.ifft2(G_g * G).real) ** 2))
    return {name: JA2[name] / JB2[name] for name in lowpass}


EXPERIMENT = Experiment(
    "Why J'_A dominates",
    "the figure in the appendix on scale inconsistency",
    None,
    jobs,
    conclude,
    pictures=("scale-ratio",),
    estimates=False,
    chooses_alpha=False,
)
