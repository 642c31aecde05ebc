"""What other methods reach on the 4D Light Field Benchmark, as their authors and the benchmark published it.

The error is the MSE x 100 in squared pixels, with 15 pixels of border left out.  The benchmark scored backgammon, dots
and stripes at ten times the resolution, so these three are only roughly comparable with a score at 512 x 512.  The
seconds are the authors', on their own machines.

The benchmark: K. Honauer, O. Johannsen, D. Kondermann and B. Goldluecke, "A Dataset and Evaluation Methodology for
Depth Estimation on 4D Light Fields", ACCV 2016.
"""

from __future__ import annotations

from dataclasses import dataclass

SCENES = ("backgammon", "dots", "pyramids", "stripes", "boxes", "cotton", "dino", "sideboard")


@dataclass(frozen=True)
class Published:
    """A method's published scores; those by scene are in the order of `SCENES`."""

    label: str
    trained: bool
    mse_100: tuple[float, ...]
    seconds: float
    on_gpu: bool = False
    badpix_007: tuple[float, ...] | None = None  # in percent

    def mse_of(self, scenes: list[str]) -> dict[str, float]:
        """Return the MSE x 100 of these scenes."""
        return _of(scenes, self.mse_100)

    def badpix_of(self, scenes: list[str]) -> dict[str, float]:
        """Return BadPix 0.07 of these scenes, if it was published by scene."""
        return {} if self.badpix_007 is None else _of(scenes, self.badpix_007)


def _of(scenes: list[str], values: tuple[float, ...]) -> dict[str, float]:
    return {name: value for name, value in zip(SCENES, values, strict=True) if name in scenes}


PUBLISHED = (
    Published(
        "LF_OCC (Wang et al., ICCV 2015)", False, (22.78, 3.185, 0.077, 7.942, 9.593, 1.074, 0.944, 2.073), seconds=520
    ),
    Published(
        "CAE (Williem et al., PAMI 2018)", False, (6.074, 5.082, 0.048, 3.556, 8.424, 1.506, 0.382, 0.876), seconds=832
    ),
    Published(
        "SPO (Zhang et al., CVIU 2016)", False, (4.587, 5.238, 0.043, 6.955, 9.107, 1.313, 0.310, 1.024), seconds=2115
    ),
    Published("SPO-MO (Sheng et al., 2018)", False, (4.133, 3.763, 0.009, 1.934, 10.37, 1.329, 0.254, 0.932), 4304),
    Published("OAVC (Han et al., PAMI 2021)", False, (3.835, 16.58, 0.040, 1.316, 6.988, 0.598, 0.267, 1.047), 19),
    Published(
        "OBER-cross+ANP (Schilling et al., CVPR 2018)",
        False,
        (4.700, 1.757, 0.008, 1.435, 4.750, 0.555, 0.336, 0.941),
        seconds=183,
        badpix_007=(3.41, 0.97, 0.36, 3.07, 10.76, 1.11, 2.07, 5.67),
    ),
    Published(
        "EPINET-fcn (Shin et al., CVPR 2018)",
        True,
        (3.629, 1.635, 0.008, 0.950, 6.240, 0.191, 0.167, 0.827),
        seconds=2.0,
        on_gpu=True,
    ),
    Published(
        "LFattNet (Tsai et al., AAAI 2020)",
        True,
        (3.648, 1.425, 0.004, 0.892, 3.996, 0.209, 0.093, 0.530),
        seconds=5.9,
        on_gpu=True,
    ),
    Published(
        "OACC-Net (Wang et al., CVPR 2022)",
        True,
        (3.938, 1.418, 0.004, 0.845, 2.892, 0.162, 0.083, 0.542),
        seconds=0.034,
        on_gpu=True,
    ),
)
