"""Keep what was found: the files of the case, what happened, and a command that repeats it."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from fuzz.cases import Case
from fuzz.sandbox import Sandbox

KEPT = 3  # cases of each kind
_VARIES = re.compile(r"/[^\s'\"]*|0x[0-9a-f]+|[0-9]+")


class Findings:
    """A folder with a subfolder for each case, and a list of all of them.

    Parameters
    ----------
    folder : Path
        It is created when the first finding comes.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.kinds: Counter[str] = Counter()
        self.examples: dict[str, str] = {}

    def add(self, name: str, seed: int, number: int, what: str, case: Case) -> None:
        """Add a case; of each kind only the first few are kept."""
        brief = what.partition(": ")[0] if what.startswith("a sentence") else what
        kind = f"{name}: {_VARIES.sub('#', brief)[:160]}"
        self.kinds[kind] += 1
        command = f'make fuzz REPEAT="{name}" CASE={number} SEED={seed}'
        self.examples.setdefault(kind, f"{what[:400]}\n    {command}")
        if self.kinds[kind] > KEPT:
            return
        place = self.folder / f"{name.replace(' ', '-')}-{seed}-{number}"
        place.mkdir(parents=True, exist_ok=True)
        Sandbox(place, [case.sample]).lay_out(Case(case.sample, 0, case.changes))
        about = {"format": name, "what": what, "mutated": list(case.changes), "opened": case.sample.opened}
        (place / "finding.json").write_text(json.dumps(about | {"repeat": command}, indent=2) + "\n")

    def text(self) -> str:
        """Return each kind of finding, how often it came, and how to repeat it."""
        lines = [
            f"{count} x {kind.partition(':')[0]}: {self.examples[kind]}" for kind, count in self.kinds.most_common()
        ]
        return "\n".join(lines)
