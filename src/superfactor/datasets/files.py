"""Where the files of a data set are: on disk, in the user's cache, or at a public address.

Looked for in this order: the folder `data_dir` that was given, the folder that the environment
variable SUPERFACTOR_DATA_DIR names, the user's cache, the network. A file of the user's own is used
whatever its checksum, which is only reported; a download is kept only if its contents are the
expected ones.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

__all__ = [
    "VARIABLE",
    "DataNotFound",
    "checksum",
    "contents",
    "download",
    "find",
    "folders",
    "where_to_put",
]

VARIABLE = "SUPERFACTOR_DATA_DIR"


class DataNotFound(ValueError):
    """A data set is neither on disk nor to be had; the message says where it can be had."""


def cache() -> Path:
    """The folder of downloads, which need not exist yet."""
    import pooch

    return Path(pooch.os_cache("superfactor"))


def folders(data_dir: str | Path | None = None) -> list[Path]:
    """Folders to look in, best first; those the user names have to exist."""
    found = []
    for name, value in (("data_dir", data_dir), (VARIABLE, os.environ.get(VARIABLE) or None)):
        if value is not None:
            folder = Path(value).expanduser()
            if not folder.is_dir():
                raise DataNotFound(f"{name}={str(value)!r}: no such folder")
            found.append(folder)
    return [*found, cache()]


def find(names: Iterable[str], data_dir: str | Path | None = None) -> Path | None:
    """The first of these files that is there, the first folder before the next."""
    names = list(names)
    paths = (folder / name for folder in folders(data_dir) for name in names)
    return next((path for path in paths if path.is_file()), None)


def where_to_put(name: str) -> str:
    """The end of a message about a file that is not there."""
    return f"put {name} into a folder and name it with --data-dir (data_dir=) or {VARIABLE}"


def contents(path: Path) -> bytes:
    """The bytes of a file, unpacked if its name ends in ``.gz``."""
    return _unpacked(path.read_bytes(), path)


def _unpacked(data: bytes, name: str | Path) -> bytes:
    try:
        return gzip.decompress(data) if str(name).lower().endswith(".gz") else data
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{name}: not a complete gzip file ({error})") from None


def download(url: str, check: Callable[[bytes], str | None]) -> Path:
    """Fetch a file into the cache.

    Parameters
    ----------
    url : its address, whose last part is the name in the cache
    check : callable(contents) -> what is wrong with them, or None
        Called with the unpacked contents before the download takes its place in the cache.
    """
    import pooch

    name = url.rsplit("/", 1)[-1]
    fetch = pooch.HTTPDownloader()

    def fetch_and_check(url: str, output: str, registry: Any) -> None:
        fetch(url, output, registry)
        wrong = check(_unpacked(Path(output).read_bytes(), name))
        if wrong is not None:
            raise ValueError(wrong)

    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("ERROR")  # its notes on hashes are about a check that is made here
    try:
        path = pooch.retrieve(url, None, fname=name, path=cache(), downloader=fetch_and_check)
    except (OSError, ValueError) as error:  # those of requests are OSErrors
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DataNotFound(
            f"{name} cannot be downloaded from {url} ({reason[:200]}); {where_to_put(name)}"
        ) from None
    finally:
        logger.setLevel(level)
    return Path(path)


def checksum(data: bytes, kind: str) -> str:
    """Of kind "md5", "sha256", or "git": the id of a file in a git repository."""
    if kind == "git":
        data, kind = b"blob %d\0" % len(data) + data, "sha1"
    return hashlib.new(kind, data, usedforsecurity=False).hexdigest()
