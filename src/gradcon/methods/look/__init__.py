"""A look at a scene before it is estimated."""

from gradcon.methods.look.description import describe_scene
from gradcon.methods.look.look import Look, look_at

__all__ = ["Look", "describe_scene", "look_at"]
