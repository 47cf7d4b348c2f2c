"""A table becomes X, labels and names of samples, for a fit and for a model that has been fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from superfactor.cli import covariates as encoding_of
from superfactor.cli.cells import numbers, shortened
from superfactor.cli.covariates import Encoding
from superfactor.cli.errors import UserError, as_user_error
from superfactor.cli.labels import labels_of
from superfactor.cli.screen import Screen
from superfactor.cli.suspicion import about_identifiers, about_intensities

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Columns:
    """Which column of a table is what; all others are features."""

    target: str | None = None
    id: str | None = None
    covariates: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    group: str | None = None


@dataclass(frozen=True)
class PreparedTable:
    """The samples of one table.

    Attributes
    ----------
    path : the file
    columns : which of its columns is what, defaults filled in
    X : (n, p + q) float64, features first, then the columns of the covariates. An array, since
        scikit-learn looks at every column of a DataFrame each time it sees one, which takes longer
        than most fits where there are tens of thousands
    names : of the columns of X
    y : labels (n,) or None
    ids : names of the samples (n,), their numbers from 1 where the table has none
    encoding : how the covariates became columns
    notes : what the user should know about how the table was read
    groups : (n,) which samples belong together, or None
    """

    path: Path
    columns: Columns
    X: Any
    names: tuple[str, ...]
    y: Any
    ids: Any
    encoding: Encoding
    notes: tuple[str, ...] = ()
    groups: Any = None

    @property
    def n_covariates(self) -> int:
        """q, the number of columns at the end of X that are covariates."""
        return len(encoding_of.column_names(self.encoding))

    @property
    def n_features(self) -> int:
        """p, the number of columns at the beginning of X that are factorized."""
        return len(self.names) - self.n_covariates


def load(
    path: Path, columns: Columns, screen: Screen, words: Sequence[str] = ()
) -> tuple[pd.DataFrame, Columns]:
    """The table, and its columns with the defaults that show only now.

    Labels, names of samples and the columns `words` are kept as they are written.
    """
    from superfactor.datasets.tables import CUMIDA, ROW_NAMES, read_table

    text = [name for name in (columns.target, columns.id, *words) if name is not None]
    with screen.progress(f"reading {path.name}") as progress, as_user_error():
        table = read_table(path, text=text, progress=progress)
    names = list(table.columns)
    cumida = tuple(names[:2]) == CUMIDA
    target = columns.target or (CUMIDA[1] if cumida else None)
    sample = columns.id or (CUMIDA[0] if cumida else None)
    if sample is None and names[0] == ROW_NAMES:
        sample = ROW_NAMES
    return table, replace(columns, target=target, id=sample)


def for_fitting(path: Path, columns: Columns, log2: bool, screen: Screen) -> PreparedTable:
    """Samples with labels, everything about their columns found out from the table itself."""
    table, columns = load(path, columns, screen)
    if columns.target is None:
        raise UserError(
            f"{path}: --target is required, the column with the labels; the columns are "
            f"{shortened(list(table.columns))}"
        )
    return _arrange(path, table, columns, log2)


def _arrange(path: Path, table: pd.DataFrame, columns: Columns, log2: bool) -> PreparedTable:
    """Samples of a table whose target is known."""
    _check_roles(path, table, columns)
    special = {columns.target, columns.id, columns.group, *columns.covariates, *columns.drop}
    features = [name for name in table.columns if name not in special]
    if not features:
        raise UserError(
            f"{path}: no columns are left to factorize; name fewer in --covariates and --drop"
        )
    y = labels_of(table[columns.target], f"{path}: column {columns.target!r}")
    ids, named = sample_ids(table, columns.id)
    encoding = encoding_of.learn_encoding(path, table, columns.covariates)
    X, names = _matrix(path, table, features, encoding, log2, named)
    values = X[:, : len(features)]
    notes = [*_empty_levels(encoding), *about_identifiers(features, values, columns.id is not None)]
    notes += [] if log2 else about_intensities(values)
    groups = None if columns.group is None else _groups(path, table, columns.group)
    return PreparedTable(path, columns, X, names, y, ids, encoding, tuple(notes), groups)


def for_model(
    path: Path,
    table: pd.DataFrame,
    columns: Columns,
    features: Sequence[str],
    encoding: Encoding,
    log2: bool,
) -> PreparedTable:
    """Samples in the columns of a fitted model; any others are left alone, and y is not looked at."""
    present = set(table.columns)
    missing = [name for name in (*features, *encoding) if name not in present]
    if missing:
        raise UserError(
            f"{path}: {len(missing)} of the model's {len(features) + len(encoding)} columns are "
            f"missing: {shortened(missing)}; add them, or fit a model without them"
        )
    if columns.id is not None and columns.id not in present:
        raise UserError(_unknown(path, "--id", columns.id, table))
    ids, named = sample_ids(table, columns.id)
    X, names = _matrix(path, table, features, encoding, log2, named)
    return PreparedTable(path, columns, X, names, None, ids, encoding)


def sample_ids(table: pd.DataFrame, column: str | None) -> tuple[Any, Any]:
    """Names of the samples (n,) for the output, and those to call them by in messages, or None."""
    import numpy as np

    if column is None:
        return np.array([str(row) for row in range(1, len(table) + 1)]), None
    cells = table[column]
    ids = np.array(["" if gone else str(c) for c, gone in zip(cells, cells.isna(), strict=True)])
    return ids, ids


def _groups(path: Path, table: pd.DataFrame, column: str) -> Any:
    """Which samples belong together (n,), as words."""
    import numpy as np

    cells = table[column]
    if cells.isna().any():
        raise UserError(
            f"{path}: --group {column}: empty for {int(cells.isna().sum())} of {len(cells)} samples; "
            "fill in or remove them"
        )
    return np.array([str(cell) for cell in cells])


def _check_roles(path: Path, table: pd.DataFrame, columns: Columns) -> None:
    present = set(table.columns)
    asked = [("--target", columns.target), ("--id", columns.id)]
    asked += [("--covariates", name) for name in columns.covariates]
    asked += [("--drop", name) for name in columns.drop]
    # Samples may be called by the name of their group.
    if columns.group != columns.id:
        asked.append(("--group", columns.group))
    for option, name in asked:
        if name is not None and name not in present:
            raise UserError(_unknown(path, option, name, table))
    roles: dict[str, str] = {}
    for option, name in asked:
        if name is not None and roles.setdefault(name, option) != option:
            raise UserError(
                f"column {name!r} is given both as {roles[name]} and as {option}; leave it out of one"
            )


def _unknown(path: Path, option: str, name: str, table: pd.DataFrame) -> str:
    import difflib

    names = [str(column) for column in table.columns]
    close = difflib.get_close_matches(name, names[:2000], n=3, cutoff=0.6)
    what = f"did you mean {shortened(close)}?" if close else f"the columns are {shortened(names)}"
    return f"{path}: {option}: there is no column {name!r}; {what}"


def _matrix(
    path: Path,
    table: pd.DataFrame,
    features: Sequence[str],
    encoding: Encoding,
    log2: bool,
    ids: Any,
) -> tuple[Any, tuple[str, ...]]:
    """The columns of X (n, p + q) and their names."""
    import numpy as np

    block = numbers(path, table, features, ids)
    if log2:
        # Background-corrected intensities may be negative; below 1 there is no signal to speak of.
        block = np.log2(np.maximum(block, 1.0))
    extra = encoding_of.encode(path, table, encoding, ids)
    names = (*features, *encoding_of.column_names(encoding))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UserError(f"{path}: a covariate would become a second column {twice!r}; rename one")
    return np.hstack([block, extra]) if extra.shape[1] else block, names


def _empty_levels(encoding: Encoding) -> list[str]:
    return [
        f"covariate {name!r}: empty cells count as a level of their own"
        for name, levels in encoding.items()
        if encoding_of.has_empty(levels)
    ]
