"""Readers and writers, one module per format; `open_scene` picks the reader for a path."""

from gradcon.io.hci import write_hci
from gradcon.io.opening import Frames, open_frames, open_scene
from gradcon.io.rig import write_rig

__all__ = ["Frames", "open_frames", "open_scene", "write_hci", "write_rig"]
