"""Read untrusted files with C libraries in child processes, so that no file can crash, block or fill this process.

`call` asks for an operation of one of the modules `hdf5_file`, `zarr_store`, `video_file` and `exr_file`, which run in
the child process only.
"""

from gradcon.isolated.limits import Limits
from gradcon.isolated.process import LibraryError, Reply
from gradcon.isolated.processes import call, next_number, tell

__all__ = ["LibraryError", "Limits", "Reply", "call", "next_number", "tell"]
