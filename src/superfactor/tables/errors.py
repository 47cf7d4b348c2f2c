"""What is wrong with a table."""

from __future__ import annotations

__all__ = ["TableError"]


class TableError(ValueError):
    """Something about files or columns that the user can put right; one line says what and how."""
