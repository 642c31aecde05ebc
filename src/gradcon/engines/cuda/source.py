"""The CUDA source as it is compiled: its files, put together with what Python knows."""

from __future__ import annotations

from importlib.resources import files

from gradcon.engines import model
from gradcon.engines.median_network import median_network

# By the file that holds them; `solve` is compiled alone, because only it is launched cooperatively.
KERNELS = {
    "kernels.cu": (
        "warp_views", "reference_fields", "linearise", "linearise_general", "residual", "blur", "weigh",
        "keep_weights", "sum_unweighted", "uncertainties", "deviations", "update", "measure",
    ),
    "kernels_solve.cu": ("solve",),
}  # fmt: skip
PARTS = {"kernels.cu": "kernels_filter.h", "kernels_solve.cu": "kernels_cells.h"}  # what goes in front
OPTIONS = ("--std=c++17", "--use_fast_math")


# The standard deviations whose filters the compiler knows, those of scales 0 to 2, by their radii.
FIXED = {len(model.gaussian(sigma)) // 2: sigma for sigma in (model.sigma(q) for q in range(3))}


def source(file: str) -> str:
    """One translation unit: what Python knows, the arithmetic of a pixel, and the kernels of `file` with their part."""
    folder = files("gradcon.engines.cuda")
    names = ("kernels_pixel.h", PARTS[file], file)
    pixel, part, kernels = (folder.joinpath(name).read_text(encoding="utf-8") for name in names)
    return "\n".join([*_constants(), _median(), pixel, *_fixed_filters(), part, kernels])


def _constants() -> list[str]:
    values = {
        "IRLS_FLOOR": f"{float(model.IRLS_FLOOR):.9e}f",
        "MOST_SECTORS": model.SECTORS,
        "VARIANCE_RADIUS": len(model.gaussian(model.SIGMA_C)) // 2,
    }
    return [f"#define {name} {value}" for name, value in values.items()]


def _median() -> str:
    network = " ".join(f"ORDER({i}, {j})" for i, j in median_network(model.MEDIAN_SIZE**2))
    return f"#define MEDIAN_NETWORK {network}"


def _fixed_filters() -> list[str]:
    """even_tap<radius>(k) and odd_tap<radius>(k): after unrolling a loop over k they are numbers in instructions."""
    lines = [f"template <int RADIUS> DEVICE float {name}_tap(int) {{ return 0.0f; }}" for name in ("even", "odd")]
    for radius, sigma in FIXED.items():
        for name, taps in (("even", model.gaussian(sigma)), ("odd", model.gaussian_derivative(sigma))):
            cases = " ".join(f"case {k}: return {float(tap):.9e}f;" for k, tap in enumerate(taps))
            head = f"template <> DEVICE float {name}_tap<{radius}>(int k)"
            lines.append(f"{head} {{ switch (k) {{ {cases} }} return 0.0f; }}")
    return [*lines, f"#define FIXED_RADII {' '.join(f'FIXED({radius})' for radius in FIXED)}"]
