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
from gradcon.files.leftovers import FolderLocks, remove, temporary_name
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
    own, and all are renamed once all are written.  Until the last one is renamed, the files that they replace keep a
    second name, so that an error or Ctrl-C leaves the folder as it was.  What an earlier process could not clear up,
    because it was killed, is removed once these files are in place.

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
    before = _Before()
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
            for _, final in written[:-1]:
                before.keep(final)
            before.complete = True
            for temporary, final in written[:-1]:
                os.replace(temporary, final)
            for other in [folder / name for name in obsolete if folder / name not in finals]:
                before.set_aside(other)
            for temporary, final in written[-1:]:
                os.replace(temporary, final)
            before.forget()
        except BaseException as error:
            if written and not os.path.lexists(written[-1][0]):  # all were renamed, and then Ctrl-C came
                before.forget()
            else:
                before.restore()
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
            remove(temporary)
            raise
        locks.remove_leftovers([path])


def _holds(folder: Path, path: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())


class _Before:
    """The files of a folder before others replace them, under second names."""

    def __init__(self) -> None:
        self.complete = False  # until then, no file is replaced
        self._kept: list[tuple[Path, Path]] = []  # files, and their second names
        self._new: list[Path] = []  # files that were not there

    def keep(self, path: Path) -> None:
        """Give a file a second name before it is replaced."""
        if not os.path.lexists(path):
            self._new.append(path)
            return
        second = temporary_name(path)
        self._kept.append((path, second))
        try:
            os.link(path, second, follow_symlinks=False)
        except (OSError, NotImplementedError):  # as on drives that know no hard links
            shutil.copy2(path, second, follow_symlinks=False)

    def set_aside(self, path: Path) -> None:
        """Remove a file of an earlier result, but for its second name."""
        try:
            if path.is_dir() and not path.is_symlink():
                raise IsADirectoryError(errno.EISDIR, "a folder has this name")
            if os.path.lexists(path):
                self._kept.append((path, temporary_name(path)))
                os.rename(*self._kept[-1])
        except OSError as error:
            problem = f"belongs to an earlier result and cannot be removed ({reason(error)})"
            raise InputError(path, problem, "remove it, or choose another folder") from None

    def restore(self) -> None:
        """Bring back what was there."""
        for path, second in self._kept:
            with suppress(OSError):  # the second name stays if it is the only one
                if self.complete:
                    os.replace(second, path)  # which leaves both names to a file that has not been replaced
                second.unlink(missing_ok=True)
        for path in self._new if self.complete else []:
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def forget(self) -> None:
        """Remove the second names."""
        for _, second in self._kept:
            with suppress(OSError):
                second.unlink(missing_ok=True)
        self._kept, self._new = [], []


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:  # something else was put there in the meantime
            return
