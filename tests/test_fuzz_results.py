"""A fixed share of the hunt for defects: maps, and what gradcon itself writes and reads again."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.in_tests import hunt_in_tests

MAPS = ("PFM", "PNG map", "TIFF map", "NPZ map", "EXR map")
OWN = ("result", "views", "judged", "weights", "video list", "batch list", "job")
pytestmark = pytest.mark.slow


def test_no_mutated_file_breaks_anything(tmp_path: Path) -> None:
    hunt_in_tests(
        tmp_path,
        "--cases",
        "1500",
        "--formats",
        "PFM,PNG map,TIFF map,NPZ map,EXR map,result,views,judged,weights,video list,batch list,job",
    )
