"""The parameters.cfg of a 4D light-field folder: its fields, a strict reader, and a writer that checks its output.

The fields that describe the camera grid, the size of the images and what metric depth needs are required; the others
describe the scene and are optional.  Unknown fields are rejected, because they are most likely typing errors.
"""

from __future__ import annotations

import configparser
import re
from collections.abc import Mapping
from pathlib import Path

from gradcon.errors import InputError
from gradcon.files import read_text
from gradcon.io.fields import hint, refuse_unknown
from gradcon.scene.numbers import finite_number

Value = int | float | str
Parameters = dict[str, Value]

COUNT, LENGTH, NUMBER, TEXT = "a positive whole number", "a positive number", "a number", "text"
FIELDS = {
    "intrinsics": {
        "focal_length_mm": LENGTH,
        "image_resolution_x_px": COUNT,
        "image_resolution_y_px": COUNT,
        "sensor_size_mm": LENGTH,
        "fstop": NUMBER,
    },
    "extrinsics": {
        "num_cams_x": COUNT,
        "num_cams_y": COUNT,
        "baseline_mm": LENGTH,
        "focus_distance_m": LENGTH,
        "center_cam_x_m": NUMBER,
        "center_cam_y_m": NUMBER,
        "center_cam_z_m": NUMBER,
        "center_cam_rx_rad": NUMBER,
        "center_cam_ry_rad": NUMBER,
        "center_cam_rz_rad": NUMBER,
        "offset": NUMBER,
    },
    "meta": {
        "scene": TEXT,
        "category": TEXT,
        "date": TEXT,
        "version": TEXT,
        "authors": TEXT,
        "contact": TEXT,
        "cycles_seed": TEXT,
        "disp_min": NUMBER,
        "disp_max": NUMBER,
        "frustum_disp_min": NUMBER,
        "frustum_disp_max": NUMBER,
        "depth_map_scale": NUMBER,
    },
}
KIND = {name: kind for fields in FIELDS.values() for name, kind in fields.items()}
NEEDED = [name for name, kind in KIND.items() if kind in (COUNT, LENGTH)]
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
_COUNT = re.compile(r"[1-9]\d{0,5}", re.ASCII)


class _Parser(configparser.RawConfigParser):
    """A parser without interpolation or a default section, which keeps the case of names."""

    def __init__(self) -> None:
        super().__init__(default_section="", strict=True, delimiters=("=",), empty_lines_in_values=False)

    def optionxform(self, optionstr: str) -> str:
        return optionstr


def read_parameters(path: Path) -> Parameters:
    """Read a parameters.cfg into a dict of ints, floats and strings."""
    return parse_parameters(read_text(path), str(path))


def parse_parameters(text: str, where: str = "parameters.cfg") -> Parameters:
    """Parse the text of a parameters.cfg; `where` names it in errors."""
    parser = _Parser()
    try:
        parser.read_string(text)
    except configparser.Error as error:
        reason = str(error.message).splitlines()[0]
        problem = f"is not a list of sections and 'field = value' lines ({reason.rstrip('.')})"
        raise InputError(where, problem, "correct it, or download it again") from None
    values: Parameters = {}
    for section in parser.sections():
        if section not in FIELDS:
            raise InputError(where, f"unknown section {section!r}", hint(section, FIELDS))
        refuse_unknown(f"{where}, section {section}", parser[section], FIELDS[section])
        for name, value in parser[section].items():
            values[name] = _value(name, value, where)
    for name in NEEDED:
        if name not in values:
            section = next(section for section, fields in FIELDS.items() if name in fields)
            raise InputError(where, f"the field {name!r} is missing", f"add it to section {section}")
    return values


def format_parameters(values: Mapping[str, Value], where: str = "parameters.cfg") -> str:
    """Format `values` as the text of a parameters.cfg, and check that it reads back as the same values."""
    refuse_unknown(where, values, KIND)
    sections = []
    for section, fields in FIELDS.items():
        lines = [f"{name} = {values[name]}" for name in fields if name in values]
        sections.append("\n".join([f"[{section}]", *lines, ""]))
    text = "\n".join(sections)
    back = parse_parameters(text, where)
    for name, value in values.items():
        if back.get(name) != value:
            raise InputError(where, f"the field {name!r} cannot hold {value!r}", f"give {KIND[name]} on one line")
    return text


def _value(name: str, text: str, where: str) -> Value:
    kind, number = KIND[name], None
    if kind == TEXT:
        return text
    if kind == COUNT and _COUNT.fullmatch(text):
        return int(text)
    if kind != COUNT and _NUMBER.fullmatch(text):
        number = finite_number(float(text))
    if number is None or (kind == LENGTH and number <= 0):
        raise InputError(where, f"the field {name!r} must be {kind}, not {text!r}", "correct it")
    return number
