"""The CUDA source as it is compiled: files of kernels/, joined with constants that Python knows."""

from __future__ import annotations

from importlib.resources import files
from itertools import product

from gradcon.engines import cascade, model
from gradcon.engines.median_network import median_network

TYPES = ("uint8", "uint16", "float32")  # of pixels
PIXELS = tuple(product(TYPES, (1, 3)))  # type and channels, as in kernels/sweep_views.h
MOST_CHANNELS = 3
COMPARING = 256  # threads of a block that compares views; a byte has as many values


def _for_pixels(*kernels: str) -> tuple[str, ...]:
    """Return the names of kernels that exist for every kind of pixel."""
    return tuple(f"{kernel}_{name}_{channels}" for kernel in kernels for name, channels in PIXELS)


# The kernels by their file.  `solve` is compiled alone, because it is the only one launched cooperatively.
KERNELS = {
    "images.cu": (
        "warp_views", "reference_fields", "linearise", "linearise_general", "residual", "blur", "weigh",
        "keep_weights", "sum_unweighted", "uncertainties", "deviations", "update", "measure",
    ),
    "solve.cu": ("solve",),
    "sweep_costs.cu": _for_pixels("pack", "difference", "costs"),
    "sweep_paths.cu": ("add_paths", "best_labels"),
    "sweep_surface.cu": _for_pixels("planes", "median"),
    "samples.cu": tuple(f"{kernel}_{name}" for kernel in ("match", "slopes", "factors") for name in TYPES),
    "fits.cu": ("fit_gains", "fit_motion"),
    "surfaces.cu": (
        "carry", "uncover", "evidence", "fronts", "behind", "window_ends", "look_into_holes", "fill_holes",
    ),
}  # fmt: skip
PARTS = {  # included before it
    "images.cu": ("filters.h",),
    "solve.cu": ("cells.h", "grid.h", "levels.h"),
    "sweep_costs.cu": ("sweep_views.h",),
    "sweep_paths.cu": (),
    "sweep_surface.cu": ("sweep_views.h",),
    "samples.cu": ("samples.h",),
    "fits.cu": ("samples.h",),
    "surfaces.cu": ("samples.h",),
}
OPTIONS = ("--std=c++17", "--use_fast_math")

# The scales whose filters the compiler knows, by their radii.
FIXED = {cascade.radius(q): q for q in range(3)}


def source(file: str) -> str:
    """Return one translation unit: constants, the arithmetic of a pixel, and the kernels of `file` with their parts."""
    pixel, rest = (_read(*names) for names in (("geometry.h", "model.h"), (*PARTS[file], file)))
    return "\n".join([*_constants(), _median(), *pixel, *_fixed_filters(), *rest])


def _read(*names: str) -> list[str]:
    folder = files("gradcon.engines.cuda").joinpath("kernels")
    return [folder.joinpath(name).read_text(encoding="utf-8") for name in names]


def _constants() -> list[str]:
    values = {
        "IRLS_FLOOR": f"{float(model.IRLS_FLOOR):.9e}f",
        "DIRECTIONS": model.DIRECTIONS,
        "MOST_CHANNELS": MOST_CHANNELS,
        "COMPARING": COMPARING,
        "VARIANCE_RADIUS": len(model.gaussian(model.SIGMA_C)) // 2,
    }
    return [f"#define {name} {value}" for name, value in values.items()]


def _median() -> str:
    network = " ".join(f"ORDER({i}, {j})" for i, j in median_network(model.MEDIAN_SIZE**2))
    return f"#define MEDIAN_NETWORK {network}"


def _fixed_filters() -> list[str]:
    """Return even_tap<radius>(k) and odd_tap<radius>(k): numbers in instructions, once a loop over k is unrolled."""
    lines = [f"template <int RADIUS> DEVICE float {name}_tap(int) {{ return 0.0f; }}" for name in ("even", "odd")]
    for radius, q in FIXED.items():
        for name, taps in (("even", cascade.smoothing(q)), ("odd", cascade.derivative(q))):
            cases = " ".join(f"case {k}: return {float(tap):.9e}f;" for k, tap in enumerate(taps))
            head = f"template <> DEVICE float {name}_tap<{radius}>(int k)"
            lines.append(f"{head} {{ switch (k) {{ {cases} }} return 0.0f; }}")
    return [*lines, f"#define FIXED_RADII {' '.join(f'FIXED({radius})' for radius in FIXED)}"]
