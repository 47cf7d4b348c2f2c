"""The file with the state of a long fit. It is always complete, and valid for one problem only."""

from __future__ import annotations

import json
import math
import os
import time
import warnings
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from superfactor._arrays import Array, to_numpy
from superfactor._files import replacing

FORMAT = 1
_HEADER = "superfactor_checkpoint"
# Sums over samples differ slightly between devices and numbers of threads.
_TOLERANCE = 1e-9
# Largest share of time that a fit spends on writing.
_SHARE = 0.1


class Checkpoint:
    """One .npz of plain arrays, written at intervals of `interval` seconds to a temporary file and renamed.

    `fingerprint` identifies the problem. Whether the file can be written is checked at once.
    """

    path: Path

    def __init__(self, path: str | os.PathLike[str], fingerprint: Mapping[str, Any], interval: float = 10.0):
        self.path = Path(path)
        self.interval = interval
        # In the form that is read from the file, where tuples are lists.
        self.fingerprint: dict[str, Any] = json.loads(json.dumps(dict(fingerprint)))
        self._next = time.monotonic() + interval
        self._check_place()

    def load(self) -> dict[str, np.ndarray] | None:
        """Return the state of the interrupted fit; None if there is no file yet."""
        if not self.path.exists():
            return None
        state = self._read()
        if _HEADER not in state:
            raise self._error("not a checkpoint of superfactor; the name of another file is required")
        header = json.loads(str(state.pop(_HEADER)))
        if header["format"] != FORMAT:
            raise self._error(
                f"format {header['format']!r} of superfactor's checkpoints, and this version reads "
                f"{FORMAT}; delete the file to start again"
            )
        self._check_same(header["problem"])
        return state

    def _read(self) -> dict[str, Any]:
        """Return the content of the file; empty for a file of another kind."""
        try:
            with open(self.path, "rb") as file:
                begins = file.read(2)
                file.seek(0)
                if begins != b"PK":  # the first bytes of every .npz
                    return {}
                with np.load(file, allow_pickle=False) as content:
                    return {name: content[name] for name in content.files}
        except OSError as error:
            raise self._error(f"cannot be read ({error.strerror or error})") from error
        except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise self._error("the file is damaged; delete it to start again") from error

    def save(self, state: Callable[[], Mapping[str, Array | float | str]], force: bool = False) -> None:
        """Write ``state()`` if it is time or `force`; a full disk gives a warning, and the fit continues."""
        begun = time.monotonic()
        if not force and begun < self._next:
            return
        header = json.dumps({"format": FORMAT, "problem": self.fingerprint})
        arrays: dict[str, Any] = {name: _plain(name, value) for name, value in state().items()}
        arrays[_HEADER] = np.asarray(header)
        try:
            with replacing(self.path) as part, open(part, "wb") as file:
                # A file object, since NumPy adds .npz to other names.
                np.savez(file, **arrays)
        except OSError as error:
            warnings.warn(
                f"{self._error(f'cannot be written ({error.strerror or error}); the fit continues')}",
                UserWarning,
                stacklevel=2,
            )
        now = time.monotonic()
        self._next = now + max(self.interval, (now - begun) / _SHARE)

    def _check_place(self) -> None:
        folder = self.path.parent
        if self.path.is_dir():
            raise self._error("a folder; the name of a file is required")
        if self.path.exists() and not self.path.is_file():  # renaming would replace a device
            raise self._error("not a file; a name to write a file to is required")
        if not folder.is_dir():
            raise self._error(f"there is no folder {str(folder)!r}")
        if not os.access(folder, os.W_OK):
            raise self._error(f"the folder {str(folder)!r} cannot be written to")

    def _check_same(self, other: dict[str, Any]) -> None:
        names = dict.fromkeys([*self.fingerprint, *other])
        different = [
            _difference(name, other, self.fingerprint)
            for name in names
            if not _agree(other.get(name), self.fingerprint.get(name))
        ]
        if different:
            raise self._error(
                f"the checkpoint of another problem: {', '.join(different)}; name another file, or "
                "delete this one to start again"
            )

    def _error(self, text: str) -> ValueError:
        return ValueError(f"checkpoint={str(self.path)!r}: {text}")


def _plain(name: str, value: Any) -> np.ndarray:
    """Return a value as an array that can be stored without pickle."""
    array = np.asarray(value if isinstance(value, int | float | str) else to_numpy(value))
    if array.dtype.hasobject:
        raise TypeError(f"checkpoint: {name} is {type(value).__name__}; arrays, numbers or str")
    return array


def _agree(a: Any, b: Any) -> bool:
    """Return whether values are equal, floats up to `_TOLERANCE`; lists and dicts entry by entry."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_agree, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_agree(a[key], b[key]) for key in a)
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=_TOLERANCE)
    return bool(a == b)


def _difference(name: str, there: dict[str, Any], here: dict[str, Any]) -> str:
    """Return the difference in words, without the meaningless numbers of digests."""
    if name.startswith("digest of "):
        return f"other {name.removeprefix('digest of ')}"
    return f"{name} is {_shown(there, name)} in the file and {_shown(here, name)} in this fit"


def _shown(entries: dict[str, Any], name: str) -> str:
    return repr(entries[name]) if name in entries else "missing"
