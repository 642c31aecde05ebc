"""A look at a scene before it is estimated."""

from gradcon.methods.look.look import Look, look_at

__all__ = ["Look", "look_at"]
