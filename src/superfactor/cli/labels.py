"""The label column: whole numbers or words, two classes or more."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from superfactor.cli.cells import without_point
from superfactor.cli.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

MOST_CLASSES = 50
# Whole numbers that fit into 64 bits, in the one spelling that str() gives back.
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")


def labels_of(column: pd.Series[Any], where: str) -> Any:
    """Labels (n,) as a NumPy array of int64 where all are whole numbers, else of str.

    Labels come back as they are written, 007, +1 and 1_0 are words; only a column of numbers 0.0
    and 1.0 loses its zeros.

    Parameters
    ----------
    column : the cells as text, None where one is empty
    where : file and column, for messages
    """
    import numpy as np

    from superfactor.estimators.spelling import two_spellings

    _check_none_missing(column, where)
    words = [str(cell) for cell in column]
    kinds = sorted(set(words))
    fraction = _fraction_among(kinds)
    if fraction is not None:
        raise UserError(
            f"{where} holds numbers such as {fraction}; a column of labels is required: choose another, or "
            "cut the numbers into classes first"
        )
    if len(kinds) > MOST_CLASSES:
        raise UserError(
            f"{where} has {len(kinds)} different values; a column of labels, with at most "
            f"{MOST_CLASSES}, is required: choose another with --target"
        )
    if len(kinds) < 2:
        raise UserError(
            f"{where} has one class only, {kinds[0]!r}; two or more are required: add samples of another, or "
            "choose another column with --target"
        )
    alike = two_spellings(kinds)
    if alike is not None:
        raise UserError(
            f"{where}: {alike}; write them alike if they are one class, else give them names that differ more"
        )
    whole = {word: without_point(word) for word in kinds}
    if all(map(_INTEGER.fullmatch, whole.values())) and len(set(whole.values())) == len(kinds):
        return np.array([int(whole[word]) for word in words])
    return np.array(words)


def labels_among(column: pd.Series[Any], classes: list[Any], where: str) -> Any:
    """Labels (n,) of samples for a model that knows `classes`."""
    import numpy as np

    _check_none_missing(column, where)
    known = {str(name): name for name in classes}
    labels = [known.get(cell, known.get(without_point(cell))) for cell in column]
    if None in labels:
        unknown = column.iloc[labels.index(None)]
        raise UserError(
            f"{where} holds {unknown!r}; the model knows {', '.join(known)}: write it as one of these, or "
            "leave such samples out"
        )
    return np.array(labels)


def _check_none_missing(column: pd.Series[Any], where: str) -> None:
    missing = column.isna()
    if missing.any():
        first = f"{column.index.name} {column.index[missing][0]}"
        raise UserError(
            f"{where} is empty for {int(missing.sum())} of {len(column)} samples (first: {first}); "
            "fill in or remove them"
        )


def _fraction_among(words: list[str]) -> str | None:
    """The first that is no whole number, where all of them are finite numbers."""
    import math

    from superfactor.datasets.tables import is_number

    if not all(is_number(word) and math.isfinite(float(word)) for word in words):
        return None
    return next((word for word in words if not float(word).is_integer()), None)
