"""Readers and writers, one module per format; `open_scene` picks the reader for a path."""

from gradcon.io.formats.hci import view_name as hci_view_name
from gradcon.io.formats.hci import write_hci
from gradcon.io.formats.rig import write_rig
from gradcon.io.opening import Frames, open_frames, open_scene

__all__ = ["Frames", "hci_view_name", "open_frames", "open_scene", "write_hci", "write_rig"]
