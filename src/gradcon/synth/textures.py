"""Textures for synthetic surfaces, made of noise: clouds, wooden boards and bricks.

The world is the same at every resolution: a denser picture shows the same waves, and finer ones in addition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]

OCTAVES = 8  # of the noise, at about 300 pixels per metre
GAMMA = 2.2  # colours are given and stored gamma-encoded; light is linear


@dataclass(frozen=True)
class Texture:
    """A periodic picture on a surface: `tile` is linear RGB, and `period` is its side in metres."""

    tile: NDArray[np.float32]  # (n * n, 3)
    period: float

    @staticmethod
    def of(rgb: Array, period: float) -> Texture:
        linear = np.clip(rgb, 0.0, 1.0) ** GAMMA
        return Texture(linear.reshape(-1, 3).astype(np.float32), period)

    def __call__(self, a: Array, b: Array) -> NDArray[np.float32]:
        """Return linear RGB at surface coordinates, interpolated bilinearly."""
        n = int(np.sqrt(len(self.tile)))  # a power of two, so that & wraps
        x, y = a * np.float32(n / self.period), b * np.float32(n / self.period)
        x0, y0 = np.floor(x), np.floor(y)
        fx, fy = (x - x0)[:, None], (y - y0)[:, None]
        i, j = x0.astype(np.int32) & (n - 1), y0.astype(np.int32) & (n - 1)
        right, row, below = (i + 1) & (n - 1), j * n, ((j + 1) & (n - 1)) * n

        def between(line: Array) -> Array:
            left = np.take(self.tile, line + i, axis=0)
            left += fx * (np.take(self.tile, line + right, axis=0) - left)
            return left

        top = between(row)
        top += fy * (between(below) - top)
        return top


@dataclass(frozen=True)
class Painter:
    """Makes textures whose finest waves are about three pixels long, so that views are hardly aliased."""

    density: float  # pixels per metre at the depth of the surfaces
    seed: int

    def clouds(self, key: int, palette: ArrayLike, grain: float = 0.12, period: float = 1.5) -> Texture:
        """Paint the colours of a palette flowing into each other, under a fine grain."""
        colours = np.asarray(palette, dtype=float)
        tone = 0.5 + 0.28 * self.noise(period, key, 1.35)
        stops = np.linspace(0, 1, len(colours))
        rgb = np.stack([np.interp(tone, stops, channel) for channel in colours.T], axis=-1)
        return Texture.of(rgb * (1 + grain * self.noise(period, key + 1, 0.9))[..., None], period)

    def boards(self, key: int, palette: ArrayLike, planks: int = 8, period: float = 1.6) -> Texture:
        """Paint wooden boards along a, with dark seams between them."""
        n = self.side(period)
        rng = np.random.default_rng([self.seed, key])
        plank, within = np.divmod(np.arange(n) * planks / n, 1.0)
        grain = self.noise(period, key, 0.8, stretch=10)
        tone = 0.5 + 0.17 * grain + 0.22 * rng.uniform(-1, 1, planks)[plank.astype(int)][:, None]
        tone += 0.07 * self.noise(period, key + 1, 0.8)
        light, dark = np.asarray(palette, dtype=float)
        rgb = dark + np.clip(tone, -0.1, 1.1)[..., None] * (light - dark)
        seam = np.clip(np.minimum(within, 1 - within) / 0.03, 0.35, 1.0)
        return Texture.of(self.smooth(rgb * seam[:, None, None], period), period)

    def bricks(self, key: int, palette: ArrayLike, rows: int = 12, period: float = 1.5) -> Texture:
        """Paint bricks in a running bond; the palette is two colours of bricks and one of mortar."""
        n = self.side(period)
        rng = np.random.default_rng([self.seed, key])
        y, x = np.meshgrid(np.arange(n) * rows / n, np.arange(n) * (rows / 2) / n, indexing="ij")
        row = y.astype(int)
        x = (x + 0.5 * (row % 2)) % (rows / 2)
        first, second, mortar = np.asarray(palette, dtype=float)
        pick = rng.uniform(0, 1, (rows, rows))[row, x.astype(int)] + 0.15 * self.noise(period, key, 1.0)
        rgb = first + np.clip(pick, 0, 1)[..., None] * (second - first)
        edge = np.minimum(np.minimum(y % 1, 1 - y % 1), 2 * np.minimum(x % 1, 1 - x % 1))
        brick = np.clip((edge - 0.05) / 0.06, 0, 1)[..., None]
        rough = 1 + 0.10 * self.noise(period, key + 1, 0.8)
        return Texture.of(self.smooth(mortar + brick * (rgb - mortar), period) * rough[..., None], period)

    def side(self, period: float) -> int:
        """Return the texels per period: a power of two, at most a pixel each, and fine enough for seams and mortar."""
        return 1 << int(np.ceil(np.log2(max(512, period * self.density))))

    def noise(self, period: float, key: int, slope: float = 1.0, stretch: int = 1) -> Array:
        """Return periodic noise of amplitude 1/f^slope, with unit variance if it had all waves up to `OCTAVES`."""
        highest = max(2.0, period * self.density / 3)  # waves per period
        n = self.side(period)
        spectrum = np.zeros((n, n // 2 + 1), dtype=np.complex128)
        low = 1
        while low < highest:  # each octave has its own seed, so that it is the same at every density
            m = 4 * low
            white = np.fft.rfft2(np.random.default_rng([self.seed, key, low]).standard_normal((m, m))) / m
            fy, fx = _waves(m)
            f = np.hypot(fy, stretch * fx)
            ring = (f >= low) & (f < 2 * low) & (f <= highest)
            rows, columns = np.nonzero(ring)
            spectrum[fy[rows, 0].astype(int) % n, columns] += white[ring] * f[ring] ** -slope
            low *= 2
        f = np.arange(1.0, 2**OCTAVES)
        power = 2 * np.pi * np.sum(f ** (1 - 2 * slope)) / stretch  # of the rings, by Parseval
        return np.fft.irfft2(spectrum, (n, n)) * (n * n / np.sqrt(power))

    def smooth(self, rgb: Array, period: float) -> Array:
        """Smooth hard edges by a Gaussian of 0.7 pixels, because pixels are too coarse for exact edges."""
        n = len(rgb)
        sigma = 0.7 / (self.density * period)  # in periods
        fy, fx = _waves(n)
        gain = np.exp(-2 * (np.pi * sigma) ** 2 * (fy**2 + fx**2))
        return np.fft.irfft2(np.fft.rfft2(rgb, axes=(0, 1)) * gain[..., None], (n, n), axes=(0, 1))


def _waves(n: int) -> tuple[Array, Array]:
    """Return the waves per period along the two axes of the spectrum of n x n real numbers."""
    return np.fft.fftfreq(n, 1 / n)[:, None], np.arange(n // 2 + 1)
