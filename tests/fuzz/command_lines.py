"""Make random command lines from the commands and options that the program itself declares."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

import typer

from gradcon.cli import app

LONG = "n" * 300  # longer than any file system allows
BYTES = "\udcff\udcfe.png"  # file names that are not UTF-8
NUMBERS = (
    *("0", "1", "2", "3", "-1", "0.5", "1e39", "-1e39", "1e-20", "1e-300", "1e400", "nan", "inf", "-inf"),
    *("99999999999999999999", "2147483648", "0x10", "1_0", "٣", "", " ", "two", "9" * 400),
)
COUNTS = ("0", "1", "2", "3", "-1", "7", "100000", "4294967296", "1.5", "", "many", "9" * 400)
INPUTS = (
    *(
        "scene",
        "scene",
        "scene",
        "rig",
        "rig/rig.toml",
        "lf.npz",
        "result",
        "result",
        "result/disparity.pfm",
        "views",
        "map.png",
    ),
    *("video", "empty", "empty.png", "pipe", "pipes", "text.txt", "missing", "missing/deep", LONG, f"{LONG}/x", BYTES),
    *("", ".", "..", "scene/../scene", "loop", "broken", "/dev/null", "/proc/self/mem", "\x1b[31mred", "a\nb"),
)
OUTPUTS = (
    *("out", "out", "out", "out", "new/deep", "result", "scene", "empty", "text.txt", "text.txt/x", "pipe", "pipe/x"),
    *(
        LONG,
        f"{LONG}/x",
        BYTES,
        "",
        ".",
        "loop",
        "broken",
        "/dev/null",
        "/dev/null/x",
        "/dev/full",
        "out.png",
        "out.npz",
    ),
    *("out.exr", "out.tif", "out.pfm", "out.html", "result/disparity.pfm", "pipe.png", "\x1b[31mred.png"),
)
CHOICES: dict[str, tuple[str, ...]] = {  # what an option can mean, besides all that it cannot
    "method": ("sweep", "gcm", "coarse-to-fine"),
    "engine": ("auto", "cpu", "reference", "reference", "cuda"),
    "without": ("colour", "gradient", "arms"),
    "views": ("all", "cross", "star", "2", "3"),
    "flip": ("x", "y", "xy", "t"),
    "range": ("-2,3", "0,1", "1,0", "nan,1", "0,1e39", "1,1", "-1e300,1e300", "0,1e-30"),
    "reference": ("input_Cam001.png", "0,1", "view (0, 1)", "a.png"),
    "pattern": ("input_Cam00{col}.png", "{row}_{col}.png", "{row}{col}", "{"),
    "grid": ("1x3", "3x3", "0x0", "99999x99999", "1x-1"),
    "frames": ("0:1", "0", "-1", ":", "5:2", "99999999999"),
    "size": ("16", "32", "16x16", "0x0", "1x1", "-1x2", "1000000x1000000"),
    "name": ("planes", "occlusion", "rotated"),
    "cmap": ("viridis", "magma"),
    "quantity": ("disparity", "uncertainty", "depth"),
    "only": ("epsilon", "alpha", ",", "epsilon,nothing"),
    "scheduler": ("nowhere", "missing.json"),
    "workers": ("1", "2", "0", "-1"),
    "references": ("input_Cam040.png", "a.png,b.png", "input_Cam040.png,input_Cam040.png", ",", "nothing"),
    "results": ("views", "result", "views/input_Cam040.png", "scene"),
    "at": ("0.5,0", "3,4", "0,0", "-1,1", "1e39,0", "nan,0", "1", "1,2,3", "99,99"),
    "to": ("5,6", "0,0", "-1,0", "inf,0"),
    "path": ("circle", "line", "spiral"),
    "aperture": ("2", "0.5", "0", "-1", "1e12", "nan"),
    "initial": ("0", "1", "scene", "result", "result/disparity.pfm"),
}
TYPICAL = {"engine": "reference", "solves": "2", "size": "16", "workers": "1"}  # without these a command takes long
WEIGHTS = {"estimate": 3.0, "fuse": 2.0, "demo": 0.1, "bench": 0.1, "reproduce": 0.3, "doctor": 0.5}


@cache
def commands() -> dict[str, list[Any]]:
    """Return the parameters of each command."""
    group: Any = typer.main.get_command(app)
    return {name: list(command.params) for name, command in group.commands.items()}


def command_line(seed: int, number: int) -> list[str]:
    """Return the command line with this number, the same one every time."""
    random = Random(f"command/{seed}/{number}")
    if random.random() < 0.02:
        return random.choice(([], ["--version"], ["--help"], ["estimat"], [""], ["--", LONG], ["-x"]))
    names = list(commands())
    name = random.choices(names, [WEIGHTS.get(name, 1.0) for name in names])[0]
    words: list[str] = [name]
    sane = random.random() < 0.6  # most values are valid, so that the command gets beyond its first checks
    for parameter in commands()[name]:
        words += _words(random, parameter, sane)
    if random.random() < 0.02:
        words.append(random.choice(("--help", "--nothing", "--", LONG, "extra")))
    return words


def _words(random: Random, parameter: Any, sane: bool) -> list[str]:
    name = parameter.name.removeprefix("disparity_")
    option = parameter.opts[0].startswith("-")
    often = parameter.required or name in TYPICAL
    if random.random() > (0.97 if often else 0.5 if not option else 0.05 if sane else 0.15):
        return []
    if option and parameter.is_flag:
        return [parameter.opts[0]]
    count = random.choice((1, 1, 2)) if parameter.nargs == -1 else 1
    values = [_value(random, name, parameter, sane) for _ in range(count)]
    if not option:
        return values
    return [f"{parameter.opts[0]}={values[0]}"] if random.random() < 0.5 else [parameter.opts[0], values[0]]


def _value(random: Random, name: str, parameter: Any, sane: bool) -> str:
    kind = parameter.type_descriptor.annotation
    absurd = random.random() < (0.05 if sane else 0.4)
    if name in TYPICAL and (sane or random.random() < 0.8):
        return TYPICAL[name]
    if name in CHOICES and not absurd:
        return random.choice(CHOICES[name])
    if kind in (int, float):
        return random.choice(COUNTS if kind is int else NUMBERS)
    if name in ("out", "target", "picture"):
        return random.choice(OUTPUTS[:4] if sane and not absurd else OUTPUTS)
    if "Path" in str(kind):
        return random.choice(INPUTS[:5] if sane and not absurd else INPUTS)
    return random.choice((*NUMBERS, *INPUTS))
