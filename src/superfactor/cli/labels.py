"""The label column: whole numbers or words, two classes or more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from superfactor.cli.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

MOST_CLASSES = 50


def labels_of(column: pd.Series[Any], where: str) -> Any:
    """Labels (n,) as a NumPy array of int64 where all are written as whole numbers, else of str.

    Parameters
    ----------
    column : the cells as text, None where one is empty
    where : file and column, for messages
    """
    import numpy as np

    _check_none_missing(column, where)
    words = [str(cell) for cell in column]
    kinds = sorted(set(words))
    numbers = _numbers(kinds)
    if numbers is not None and any(number != int(number) for number in numbers):
        fraction = next(w for w in kinds if float(w) != int(float(w)))
        raise UserError(f"{where} holds numbers such as {fraction}; a column of labels is required")
    if len(kinds) > MOST_CLASSES:
        raise UserError(
            f"{where} has {len(kinds)} different values; a column of labels, with at most "
            f"{MOST_CLASSES}, is required"
        )
    if len(kinds) < 2:
        raise UserError(f"{where} has one class only, {kinds[0]!r}; two or more are required")
    if numbers is not None and len({int(number) for number in numbers}) == len(kinds):
        return np.array([int(float(word)) for word in words])
    return np.array(words)


def labels_among(column: pd.Series[Any], classes: list[Any], where: str) -> Any:
    """Labels (n,) of samples for a model that knows `classes`."""
    import numpy as np

    _check_none_missing(column, where)
    known = {str(name): name for name in classes}
    labels = [known.get(_plain(str(cell), classes)) for cell in column]
    if None in labels:
        unknown = column.iloc[labels.index(None)]
        raise UserError(f"{where} holds {unknown!r}; the model knows {', '.join(known)}")
    return np.array(labels)


def _plain(word: str, classes: list[Any]) -> str:
    """As the class would be written: 1.0 is 1 where the classes are whole numbers."""
    number = _numbers([word]) if isinstance(classes[0], int) else None
    return word if number is None else f"{number[0]:g}"


def _check_none_missing(column: pd.Series[Any], where: str) -> None:
    missing = column.isna()
    if missing.any():
        first = f"{column.index.name} {column.index[missing][0]}"
        raise UserError(
            f"{where} is empty for {int(missing.sum())} of {len(column)} samples (first: {first}); "
            "fill in or remove them"
        )


def _numbers(words: list[str]) -> list[float] | None:
    """All of them as finite numbers, or None."""
    import math

    try:
        numbers = [float(word) for word in words]
    except ValueError:
        return None
    return numbers if all(map(math.isfinite, numbers)) else None
