"""A look at the views before they are estimated, on a small copy: what is in the scene, and what is wrong with it.

It finds the range of the disparities, the noise, and how the views differ in brightness, which the methods use instead
of parameters.  And it says what the user should know: that views are odd, out of place, laid out differently, or all
the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gradcon.engines.sweep_views import views_of
from gradcon.methods.look import layouts
from gradcon.methods.look.agreement import Agreement
from gradcon.methods.look.gains import Compared, compare
from gradcon.methods.look.hidden import behind_surfaces
from gradcon.methods.look.judgement import judged
from gradcon.methods.look.noise import measured_noise, measured_texture
from gradcon.methods.look.small_copy import SmallCopy
from gradcon.methods.options import Options
from gradcon.methods.sweep.labels import found_range, halvings, searchable, shrink_factor
from gradcon.result.findings import Brightness, Findings
from gradcon.scene import Scene
from gradcon.scene.layout import Layout
from gradcon.scene.shrink import shrunk
from gradcon.scene.variants import laid_out

LARGE = 512  # pixels on the longer side of a scene that is estimated to tell near from far


class Look(NamedTuple):
    """What was found, and the small copy that shows it."""

    findings: Findings
    agreement: Agreement
    k: int  # pixels of the views along each axis for one of the small copy

    @property
    def compared(self) -> Compared:
        return self.agreement.compared

    @property
    def copy(self) -> SmallCopy:
        return self.compared.copy


def look_at(scene: Scene, options: Options | None = None, engine: str = "auto", check_places: bool = True) -> Look:
    """Look at a scene; what `options` give is not looked for, nor is where the cameras stand unless it is checked."""
    options = options or Options()
    k = shrink_factor(scene.shape)
    compared = compare(views_of(scene, k=k), engine)
    copy = compared.copy
    step = copy.tried.step / k
    if options.disparity_range is None:
        found = found_range(copy.swept.w, copy.swept.lead, copy.tried, len(scene.target_names))
        low, high = searchable(scene.shape, *found, step)
    else:
        low, high = options.disparity_range
        halvings(scene.shape, low, high, step)  # refuses a range that no copy can be searched in
    noise = measured_noise(scene, low, high, engine) if options.noise is None else options.noise
    findings = Findings(
        disparity_range=(low, high),
        noise=noise,
        texture=measured_texture(scene, noise),
        given=[name for name in ("disparity_range", "noise") if getattr(options, name) is not None],
        brightness=_brightness(scene, compared),
        noticeable=compared.noticeable,
        compensated=compared.noticeable and options.gains,
        doubts=[f"{scene.name}: {doubt}." for doubt in scene.doubts],
    )
    better = _better_layout(scene, copy, engine) if check_places else None
    agreement = Agreement(compared)
    findings = judged(findings, scene, agreement, k, better, options.align, check_places, options.use_inspection)
    return Look(findings, agreement, k)


def _brightness(scene: Scene, compared: Compared) -> list[Brightness]:
    order = compared.copy.views.order
    assert order is not None
    gain, offset = (part[np.argsort(order)].tolist() for part in compared.gains)
    return [Brightness(*each) for each in zip(scene.target_names, gain, offset, strict=True)]


def _better_layout(scene: Scene, copy: SmallCopy, engine: str) -> Layout | None:
    """Return the layout that explains the views clearly better than the one they have, if there is one."""
    from gradcon.methods.sweep.run import minimise

    axes = layouts.better_axes(copy.views, engine) if layouts.can_tell(scene, copy.views) else None
    if axes is None:
        return None
    turned = laid_out(shrunk(scene, LARGE), axes)
    behind = behind_surfaces(turned, minimise(turned, Options("sweep"), engine=engine).w)
    return axes.then(Layout(x=True, y=True)) if behind is not None and behind.reversed else axes
