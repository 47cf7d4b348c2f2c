"""Atomic writing of files: write under a temporary name, then rename."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to `path`; rename it to `path` if no error occurs.

    A link is kept, and its target is replaced.
    """
    path = path.resolve()
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {path.parent}")
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
