"""The CUDA source as it is compiled: its files, put together with what Python knows."""

from __future__ import annotations

from importlib.resources import files

from gradcon import model
from gradcon.engines.median_network import median_network

# By the file that holds them; `solve` is compiled alone, because only it is launched cooperatively.
KERNELS = {
    "kernels.cu": (
        "warp_views", "reference_fields", "linearise", "linearise_general", "residual", "blur", "weigh",
        "sum_unweighted", "deviations", "update", "measure",
    ),
    "kernels_solve.cu": ("solve",),
}  # fmt: skip
PARTS = {"kernels.cu": "kernels_filter.h", "kernels_solve.cu": "kernels_cells.h"}  # what goes in front
OPTIONS = ("--std=c++17", "--use_fast_math")


FIXED_SCALES = (0, 1, 2)  # whose filters the compiler knows


def source(file: str) -> str:
    """One translation unit: what Python knows, the arithmetic of a pixel, and the kernels of `file`."""
    folder = files("gradcon.engines")
    names = ("kernels_pixel.h", PARTS[file], file)
    pixel, part, kernels = (folder.joinpath(name).read_text(encoding="utf-8") for name in names)
    return "\n".join([_median(), pixel, *_fixed_filters(), part, kernels])


def _median() -> str:
    network = " ".join(f"ORDER({i}, {j})" for i, j in median_network(model.MEDIAN_SIZE**2))
    return f"#define MEDIAN_NETWORK {network}"


def _fixed_filters() -> list[str]:
    """even_tap<radius>(k) and odd_tap<radius>(k): after unrolling a loop over k they are numbers in instructions."""
    lines = [f"template <int RADIUS> DEVICE float {name}_tap(int) {{ return 0.0f; }}" for name in ("even", "odd")]
    radii = []
    for sigma in (model.sigma(q) for q in FIXED_SCALES):
        for name, taps in (("even", model.gaussian(sigma)), ("odd", model.gaussian_derivative(sigma))):
            cases = " ".join(f"case {k}: return {float(tap):.9e}f;" for k, tap in enumerate(taps))
            head = f"template <> DEVICE float {name}_tap<{len(taps) // 2}>(int k)"
            lines.append(f"{head} {{ switch (k) {{ {cases} }} return 0.0f; }}")
        radii.append(f"FIXED({len(taps) // 2})")
    return [*lines, f"#define FIXED_RADII {' '.join(radii)}"]
