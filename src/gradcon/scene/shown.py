"""How a scene is shown in notebooks and scripts.

What draws stands above the scene, so it is imported when a scene is shown; no other file may import from above.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from gradcon.pictures.card import Card
    from gradcon.scene.scene import Scene


class ShownScene:
    """The part of `Scene` that shows it."""

    def show(self) -> None:
        """Show the views where their cameras stand: in the notebook, or else in the system's viewer of images.

        Without a display, the picture is written to a temporary file, and a line on stderr says where it is.
        """
        self._card().show()

    def _card(self) -> Card:
        from gradcon.pictures.scene_card import scene_card

        return scene_card(cast("Scene", self))

    def _repr_html_(self) -> str:
        return self._card().html

    def _repr_png_(self) -> bytes:
        return self._card().png
