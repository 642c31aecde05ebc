"""Write several files at once, all or none; every failure is an InputError that names the file."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from gradcon.damage import leaves_folder
from gradcon.errors import InputError
from gradcon.files.leftovers import FolderLocks, temporary_name
from gradcon.files.reason import reason


def make_folder(folder: Path) -> list[Path]:
    """Create `folder` and its missing parents; return those that were created, deepest first."""
    try:
        missing = [part for part in (folder, *folder.parents) if not part.exists()]
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise InputError(folder, f"cannot create this folder ({reason(error)})", "choose another") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(folder, "cannot write into this folder", "change its permissions or choose another")
    return missing


def write_files(
    folder: Path, files: Iterable[tuple[str, bytes]], lasting: bool = False, obsolete: Collection[str] = ()
) -> Path:
    """Write all of the (name, content) pairs into `folder`, or none of them; return the folder.

    A name may lead into a folder that exists inside `folder`.  Each file is written under a temporary name next to its
    own, and all are renamed once all are written, so that an error or Ctrl-C leaves neither partial nor temporary
    files.  What an earlier process could not clear up, because it was killed, is removed once these files are in place.

    Parameters
    ----------
    folder : Path
        The folder, which is created if it is missing.
    files : iterable of (str, bytes)
        It may be a generator, so that one content at a time is in memory.  The last file is renamed last: if it says
        which others there are, a killed process leaves nothing that it describes wrongly.
    lasting : bool
        Wait until the disk has the data, so that not even a power cut leaves an empty file.
    obsolete : collection of str
        Files that are removed before the last file is renamed, unless they are among those that are written.
    """
    created = make_folder(folder)
    written: list[tuple[Path, Path]] = []
    final = folder
    with FolderLocks() as locks:
        try:
            for name, content in files:
                final = folder / name
                if leaves_folder(name) or (len(PurePosixPath(name).parts) > 1 and not _holds(folder, final.parent)):
                    raise OSError(f"it would leave {folder}")
                if final.is_dir():  # find out now, before any file has been renamed
                    raise IsADirectoryError(errno.EISDIR, "a folder has this name")
                temporary = temporary_name(final)
                written.append((temporary, final))
                locks.share(final.parent)
                with open(temporary, "xb") as handle:
                    handle.write(content)
                    if lasting:
                        handle.flush()
                        os.fsync(handle.fileno())
            finals = {final for _, final in written}
            for k, (temporary, final) in enumerate(written):
                if k == len(written) - 1:
                    for other in [folder / name for name in obsolete if folder / name not in finals]:
                        _remove_obsolete(other)
                os.replace(temporary, final)
        except BaseException as error:
            for temporary, _ in written:
                with suppress(OSError):  # the name may be one that the file system does not allow
                    temporary.unlink(missing_ok=True)
            _remove_empty(created)
            if isinstance(error, OSError):
                remedy = "make room for it or choose another folder"
                raise InputError(final, f"cannot be written ({reason(error)})", remedy) from None
            raise
        locks.remove_leftovers({*finals, *(folder / name for name in obsolete)})
    return folder


def write_file(path: Path, content: bytes, lasting: bool = False) -> None:
    """Write one file atomically."""
    if not path.name:
        raise InputError(path, "is not the name of a file", "give one")
    write_files(path.parent, [(path.name, content)], lasting)


@contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Yield a temporary name for a folder or file; it gets the name `path` if the block ends without an error."""
    make_folder(path.parent)
    temporary = temporary_name(path)
    with FolderLocks() as locks:
        locks.share(path.parent)
        try:
            yield temporary
            os.rename(temporary, path)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        locks.remove_leftovers([path])


def _holds(folder: Path, path: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())


def _remove_obsolete(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        problem = f"belongs to an earlier result and cannot be removed ({reason(error)})"
        raise InputError(path, problem, "remove it, or choose another folder") from None


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:  # something else was put there in the meantime
            return
