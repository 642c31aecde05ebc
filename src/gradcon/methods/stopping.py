"""When a run goes to its next stage, and when it stops.

A stage ends as soon as no step meets its limit.  The last stage ends when its steps no longer matter: every few solves
the map is compared with the map at the last look.  A small change means that it has settled; a change that is no larger
than a few steps means that it only jitters in place, because the images are noisy.
"""

from __future__ import annotations

from typing import Any

from gradcon.engines import AnyEngine, StepReport
from gradcon.result.stopped import Stopped, StopReason

CHECK_EVERY = 10  # solves between two looks
SETTLED = 3e-4  # mean change since the last look, in pixels of the nearest view, that no longer matters
JITTER = 2.0  # ... or this many mean steps


class StopRule:
    """Looks at every solve of a run and decides how it goes on."""

    def __init__(self, engine: AnyEngine, stages: int, most_solves: int, w: Any) -> None:
        self.engine, self.stages, self.most_solves = engine, stages, most_solves
        self.stage = 0  # the one to run next
        self._w, self._solves = w, 0  # the map at the last look, and how many solves ago that was

    def judge(self, solve: int, w: Any, report: StepReport, unit: float) -> Stopped | None:
        """Return why the run stops after this solve, if it does; `stage` says what runs next if it does not."""
        self._solves += 1
        last = self.stage == self.stages - 1
        if solve == self.most_solves:
            reason = StopReason.OUT_OF_SOLVES if last else StopReason.OUT_OF_SOLVES_EARLY
            facts = {"stage": self.stage + 1, "stages": self.stages, "change": report.step_mean / unit}
            return Stopped.because(reason, solves=solve, **facts)
        if not last and report.clipped == 0:
            self.stage += 1
            self._look(w)
        elif last and self._solves == CHECK_EVERY:
            change = self.engine.change(self._w, w)
            self._look(w)
            if change < max(SETTLED, JITTER * report.step_mean):
                return Stopped.because(StopReason.CONVERGED, solves=solve, looked=CHECK_EVERY, change=change / unit)
        return None

    def _look(self, w: Any) -> None:
        self._w, self._solves = w, 0
