"""Files that are complete or not there, and temporary folders; what killed processes left is removed.

A process holds a lock on everything temporary that it writes. The system releases it when the process ends,
however it ends: what another process can lock was left behind.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # on Windows open files cannot be deleted, which does the same
    fcntl = None  # type: ignore[assignment]

_PREFIX, _LOCK = "superfactor-", ".lock"


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to `path`, an empty file; rename it to `path` if no error occurs.

    The content is on the disk before the file gets its name. A link is kept, and its target is replaced.
    Errors of writing name `path`.
    """
    path = path.resolve()
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {path.parent}")
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():  # renaming would replace a device
        raise OSError(errno.EINVAL, "not a file; the name of a file is required", str(path))
    part, file = None, None
    try:
        _remove_left(path)
        part, file = _locked(path.parent, f".{path.name}.{{}}.tmp")
        yield part
        os.fsync(file)
        if fcntl is None:  # open files cannot be renamed there
            os.close(file)
            file = None
        os.replace(part, path)
        _sync_folder(path.parent)
    except OSError as error:
        named = error.filename
        if named is not None and not _is_part(Path(os.fsdecode(named)).name, path):  # of another file
            raise
        if error.errno is None:
            raise OSError(f"{path}: {error}") from error
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        if file is not None:
            os.close(file)
        if part is not None:
            part.unlink(missing_ok=True)


class TemporaryFolder:
    """A folder for temporary files; it is removed by `cleanup`, or by the next process after a kill."""

    def __init__(self) -> None:
        for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            if _is_own_folder(left):
                _remove_if_left(left / _LOCK, partial(_remove_folder, left))
        # Where open files cannot be removed, they are left to the system.
        self._folder = tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)
        self.path = Path(self._folder.name)
        self._lock = _locked(self.path, _LOCK)[1]

    def cleanup(self) -> None:
        """Remove the folder and its files."""
        os.close(self._lock)
        self._folder.cleanup()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *exception: Any) -> None:
        self.cleanup()


def _locked(folder: Path, pattern: str) -> tuple[Path, int]:
    """Create a file, named with random letters, and lock it; return its path and its descriptor."""
    while True:
        path = folder / pattern.format(secrets.token_hex(8))
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        if fcntl is None:
            return path, file
        with suppress(OSError):  # some file systems have no locks
            fcntl.flock(file, fcntl.LOCK_EX)
        # Another process may have seen the file before it was locked, and removed it.
        if os.fstat(file).st_nlink:
            return path, file
        os.close(file)


def _remove_if_left(path: Path, remove: Callable[[], object]) -> None:
    """Call `remove` if the process that has made a file has ended, as its lock shows."""
    with suppress(OSError):
        # A link or a pipe of this name is not ours.
        file = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        try:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove()
        finally:
            os.close(file)
        if fcntl is None:
            remove()


def _remove_left(path: Path) -> None:
    """Remove temporary files of killed processes that were writing `path`."""
    with suppress(OSError):
        for other in os.listdir(path.parent):
            if _is_part(other, path):
                left = path.with_name(other)
                _remove_if_left(left, left.unlink)


def _is_part(name: str, path: Path) -> bool:
    """Return whether a name is that of a temporary file for `path`."""
    return re.fullmatch(re.escape(f".{path.name}.") + r"[0-9a-f]{16}\.tmp", name) is not None


def _remove_folder(folder: Path) -> None:
    (folder / _LOCK).unlink()  # fails on Windows if a process has it open, and all stays
    shutil.rmtree(folder, ignore_errors=True)


def _is_own_folder(path: Path) -> bool:
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and (not hasattr(os, "getuid") or found.st_uid == os.getuid())


def _sync_folder(folder: Path) -> None:
    """Have the new name of a file on the disk, where the system can."""
    with suppress(OSError):
        place = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(place)
        finally:
            os.close(place)
