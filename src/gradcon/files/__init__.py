"""Files: read whole ones, write several at once, all or none, and clear up after processes that were killed."""

from gradcon.files.json_text import to_json
from gradcon.files.leftovers import leftovers, remove_leftovers
from gradcon.files.reading import (
    MAX_FILE_BYTES,
    as_path,
    file_size,
    files_in,
    read_bytes,
    read_text,
    several,
    sha256_of_file,
)
from gradcon.files.writing import make_folder, write_file, write_files, writing

__all__ = [
    "MAX_FILE_BYTES",
    "as_path",
    "file_size",
    "files_in",
    "leftovers",
    "make_folder",
    "read_bytes",
    "read_text",
    "remove_leftovers",
    "several",
    "sha256_of_file",
    "to_json",
    "write_file",
    "write_files",
    "writing",
]
