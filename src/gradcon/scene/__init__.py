"""What comes in: a scene's views, where their cameras stand, and how disparity becomes depth."""

from gradcon.scene.calibration import Calibration
from gradcon.scene.geometry import Camera
from gradcon.scene.scene import Scene, Views, check_flip, choose_views

__all__ = ["Calibration", "Camera", "Scene", "Views", "check_flip", "choose_views"]
