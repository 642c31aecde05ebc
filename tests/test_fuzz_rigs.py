"""A fixed share of the hunt for defects: rig.toml, COLMAP, HCI, Middlebury."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.in_tests import hunt_in_tests

pytestmark = pytest.mark.slow


def test_no_mutated_file_breaks_anything(tmp_path: Path) -> None:
    hunt_in_tests(tmp_path, "--cases", "1100", "--formats", "rig.toml,COLMAP,HCI,Middlebury")
