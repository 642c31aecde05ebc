"""What comes in: the views of a scene, where their cameras stand, and how disparity becomes depth."""

from gradcon.scene.calibration import Calibration
from gradcon.scene.geometry import Camera
from gradcon.scene.scene import Scene
from gradcon.scene.selection import Views, choose_views

__all__ = ["Calibration", "Camera", "Scene", "Views", "choose_views"]
