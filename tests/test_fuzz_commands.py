"""A fixed share of the random command lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.command_lines import command_line, commands
from fuzz.in_tests import hunt_in_tests

pytestmark = pytest.mark.slow


def test_no_command_line_breaks_anything(tmp_path: Path) -> None:
    hunt_in_tests(tmp_path, "--commands", "60", "--cases", "0")


def test_all_commands_are_tried() -> None:
    lines = [command_line(0, number) for number in range(1000)]
    assert {line[0] for line in lines if line} >= set(commands())
    assert lines[7] == command_line(0, 7)
