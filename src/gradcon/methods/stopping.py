"""When a run goes to its next stage, and when it stops.

A stage ends as soon as no step meets its limit, or when only a few pixels do and the others hardly move: a single pixel
of a large image may go back and forth for ever.  `Choices` can ask for the paper's rule, which is the first of the two,
and for a largest number of solves.

The last stage ends with the last solve, or, for the Gradient Consistency Model, when its steps no longer matter: every
few solves the map is compared with the map at the last look.  A small change means that it has settled.  A change that
is no larger than a few steps means that it only goes back and forth in place.  If it does so by little, it has
converged as far as noisy images let it; if not, it has found no map to converge to.  Under unit weights a few pixels
creep on for hundreds of solves while the mean hardly changes, so this rule would end such a run too early.
"""

from __future__ import annotations

from typing import Any

from gradcon.engines import AnyEngine, Choices, StepReport
from gradcon.result.stopped import Stopped, StopReason

CHECK_EVERY = 10  # solves between two looks
SETTLED = 2e-3  # mean change since the last look, in pixels of the nearest view, that no longer matters
STILL = 0.1  # times that: as many steps as there are between two looks, each no larger than this, change no more
FEW = 1e-4  # share of pixels that may still meet the limit when a stage ends
SLOW = 5e-4  # mean step of such a stage, in pixels of the nearest view
JITTER = 2.0  # mean steps: a map that has changed by less since the last look only goes back and forth
STEADY = 0.005  # pixels of the nearest view: a map that goes back and forth by more has not converged


class StopRule:
    """Looks at every solve of a run and decides how it goes on."""

    def __init__(self, engine: AnyEngine, stages: int, most_solves: int, w: Any, choices: Choices) -> None:
        self.engine, self.stages, self.most_solves, self.choices = engine, stages, most_solves, choices
        self.stage = 0  # the one to run next
        self.in_stage = 0  # solves that it has had
        self._w, self._solves = w, 0  # the map at the last look, and how many solves ago that was

    def judge(self, solve: int, w: Any, report: StepReport, unit: float) -> Stopped | None:
        """Return why the run stops after this solve, if it does; `stage` says what runs next if it does not."""
        self._solves += 1
        self.in_stage += 1
        last, no_more = self.stage == self.stages - 1, solve == self.most_solves
        still = no_more and report.step_mean < STILL * SETTLED
        may_stop = no_more or self.choices.run_end == "converged"
        if not may_stop and solve == self.most_solves - CHECK_EVERY:
            self._look(w)  # for the only comparison of such a run, at its end
        if last and (still or (may_stop and self._solves == CHECK_EVERY)):
            change, looked = self.engine.change(self._w, w), self._solves
            self._look(w)
            if still or change < max(SETTLED, JITTER * report.step_mean):
                reason = StopReason.CONVERGED if still or change < STEADY else StopReason.JITTERS
                facts = {"looked": looked, "change": change / unit, "step": report.step_mean / unit}
                return Stopped.because(reason, solves=solve, **facts)
        if no_more:
            reason = StopReason.OUT_OF_SOLVES if last else StopReason.OUT_OF_SOLVES_EARLY
            facts = {"stage": self.stage + 1, "stages": self.stages, "change": report.step_mean / unit}
            return Stopped.because(reason, solves=solve, **facts)
        if not last and self._ends(report):
            self.stage, self.in_stage = self.stage + 1, 0
            self._look(w)
        return None

    def _ends(self, report: StepReport) -> bool:
        """Return whether the stage ends, which is not the last one."""
        few = self.choices.stage_end == "few" and report.clipped < FEW and report.step_mean < SLOW
        most = self.choices.stage_solves or self.most_solves
        return report.clipped == 0 or few or self.in_stage >= most

    def _look(self, w: Any) -> None:
        self._w, self._solves = w, 0
