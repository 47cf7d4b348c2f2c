"""Where the files of a data set are: on disk, in the user's cache, or at a public address.

Looked for in this order: the folder `data_dir` that was given, the folder that the environment
variable SUPERFACTOR_DATA_DIR names, the user's cache, the network. A file of the user's own is used
whatever its checksum, which is only reported; a download is kept only if its contents are the
expected ones.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

__all__ = ["VARIABLE", "DataNotFound", "checksum", "contents", "download", "find", "folders", "get_it"]

VARIABLE = "SUPERFACTOR_DATA_DIR"


class DataNotFound(ValueError):
    """A data set is neither on disk nor to be had; the message says where it can be had."""


def folders(data_dir: str | Path | None = None) -> Iterator[Path]:
    """Folders to look in, best first; those the user names have to exist."""
    for name, value in (("data_dir", data_dir), (VARIABLE, os.environ.get(VARIABLE) or None)):
        if value is not None:
            folder = Path(value).expanduser()
            if not folder.is_dir():
                raise DataNotFound(f"{name}={str(value)!r}: no such folder")
            yield folder
    if _can_download():
        yield _cache()


def _can_download() -> bool:
    return importlib.util.find_spec("pooch") is not None


def _cache() -> Path:
    """The folder of downloads, which need not exist yet."""
    import pooch

    return Path(pooch.os_cache("superfactor"))


def find(names: Iterable[str], data_dir: str | Path | None = None) -> Path | None:
    """The first of these files that is there, the first folder before the next."""
    names = list(names)
    paths = (folder / name for folder in folders(data_dir) for name in names)
    return next((path for path in paths if path.is_file()), None)


def get_it(name: str, home: str) -> str:
    """The end of a message about a file that is not there; `home` is where people find it."""
    return (
        f"get {name} from {home}, put it into a folder and name that with --data-dir (data_dir=) or "
        f"the environment variable {VARIABLE}"
    )


def contents(path: Path) -> bytes:
    """The bytes of a file, unpacked if its name ends in ``.gz``."""
    return _unpacked(path.read_bytes(), path)


def _unpacked(data: bytes, name: str | Path) -> bytes:
    try:
        return gzip.decompress(data) if str(name).lower().endswith(".gz") else data
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{name}: not a complete gzip file ({error}); download it again") from None


def download(url: str, check: Callable[[bytes], str | None], home: str) -> Path:
    """Fetch a file into the cache.

    Parameters
    ----------
    url : its address, whose last part is the name in the cache
    check : callable(contents) -> what is wrong with them, or None
        Called with the unpacked contents before the download takes its place in the cache.
    home : where people find it by hand
    """
    address, name = url.rsplit("/", 1)
    if not _can_download():
        raise DataNotFound(
            f"{name} is not there, and downloads need pooch: pip install pooch, or {get_it(name, home)}"
        )
    import pooch
    import requests

    fetch = pooch.HTTPDownloader()

    def fetch_and_check(url: str, output: str, registry: Any) -> None:
        fetch(url, output, registry)
        wrong = check(_unpacked(Path(output).read_bytes(), name))
        if wrong is not None:
            raise ValueError(wrong)

    files = pooch.create(path=_cache(), base_url=f"{address}/", registry={name: None})
    try:
        return Path(files.fetch(name, downloader=fetch_and_check))
    except (requests.ConnectionError, requests.Timeout):
        reason = "no connection"
    except (OSError, ValueError) as error:  # a full disk, a page that is not there, a wrong file
        reason = " ".join(str(error).split())
    raise DataNotFound(f"{name} cannot be downloaded from {url} ({reason}): {get_it(name, home)}")


def checksum(data: bytes, kind: str) -> str:
    """Of kind "md5", "sha256", or "git": the id of a file in a git repository."""
    if kind == "git":
        data, kind = b"blob %d\0" % len(data) + data, "sha1"
    return hashlib.new(kind, data, usedforsecurity=False).hexdigest()
