"""What was read becomes X, labels and names of samples, for a fit and for a model that has been fitted."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from superfactor.tables.columns import confounders as confounders_of
from superfactor.tables.columns import covariates as encoding_of
from superfactor.tables.columns import gaps as gaps_of
from superfactor.tables.columns.confounders import Levels
from superfactor.tables.columns.covariates import Encoding
from superfactor.tables.columns.dense import as_dense, is_sparse, zeros_written_out
from superfactor.tables.columns.gaps import Gaps
from superfactor.tables.columns.labels import is_labeled, known, labels_of, rare
from superfactor.tables.columns.matrix import among, as_model_takes, assembled, features_of, without_empty
from superfactor.tables.columns.numbers import shortened
from superfactor.tables.columns.suspicion import about_identifiers, about_intensities
from superfactor.tables.errors import TableError
from superfactor.tables.joining.ranges import Ranges, ranges_of_kept
from superfactor.tables.joining.reading import Source, Study, Told, naming_sheet, read, silent
from superfactor.tables.roles import Columns, check_roles, unknown

if TYPE_CHECKING:
    import pandas as pd

# What people write, besides nothing, where they do not know.
_NO_LABELS = frozenset(
    ["unknown", "?", "na", "n/a", "n.a.", "missing", "unlabeled", "unlabelled", "not known", "-"]
)

__all__ = ["Columns", "PreparedTable", "Wishes", "for_fitting", "for_model", "sample_ids"]


@dataclass(frozen=True)
class Wishes:
    """What is done to a table before anything is learned from it.

    Attributes
    ----------
    log2 : take the logarithm of the features
    impute : "lowrank", "mean" or "none", what becomes of missing values
    unlabeled : what is written where there is no label, besides nothing
    min_class : leave out classes with fewer samples, or groups; 0 leaves out none
    """

    log2: bool = False
    impute: str = "lowrank"
    unlabeled: str | None = None
    min_class: int = 0


@dataclass(frozen=True)
class PreparedTable:
    """The samples of one table.

    Attributes
    ----------
    path : the file
    columns : which of its columns is what, defaults filled in
    X : (n, p + q + k) float64, features first, then the columns of the covariates, then those of the
        confounders. An array, since scikit-learn looks at every column of a DataFrame each time it sees
        one, which takes longer than most fits where there are tens of thousands; or CSR. NaN where a
        feature is missing or a confounder unknown
    names : of the p + q columns of X that a model sees
    y : labels (n,), of objects with None where a sample has none; or None
    ids : names of the samples (n,), their numbers from 1 where the table has none
    encoding : how the covariates became columns
    notes : what the user should know about how the table was read
    groups : (n,) which samples belong together, or None
    confounders : the levels of the confounders
    blocks : name → (first, behind the last) feature of a block; empty where there is one table
    gaps : what is missing, or None
    joined : who was lost in a join and why; empty where there is one file
    rare : classes that were left out, and how many samples they had
    title : names of all files
    confounder_table : DataFrame (n, …) of the confounders as they are written, or None
    missing : (n,) share of the features that each sample misses
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
    confounders: Levels = field(default_factory=dict)
    blocks: Ranges = field(default_factory=dict)
    gaps: Gaps | None = None
    joined: dict[str, Any] = field(default_factory=dict)
    rare: dict[str, int] = field(default_factory=dict)
    title: str = ""
    confounder_table: Any = None
    missing: Any = None

    @property
    def n_covariates(self) -> int:
        """q, the number of columns of X after the features that are covariates."""
        return len(encoding_of.column_names(self.encoding))

    @property
    def n_features(self) -> int:
        """p, the number of columns at the beginning of X that are factorized."""
        return len(self.names) - self.n_covariates

    @property
    def column_names(self) -> tuple[str, ...]:
        """Of all columns of X."""
        return (*self.names, *confounders_of.column_names(self.confounders))

    def confounders_at(self, train: Any, held_out: Any) -> dict[str, Any]:
        """What a page is told of the confounders of the samples at these positions."""
        if self.confounder_table is None:
            return {}
        return {
            "confounders": self.confounder_table.iloc[train],
            "confounders_test": self.confounder_table.iloc[held_out] if len(held_out) else None,
        }

    @property
    def labeled(self) -> Any:
        """Which samples have a label (n,), as bool."""
        return is_labeled(self.y)


def for_fitting(
    source: Source | Path, columns: Columns, wishes: Wishes, told: Told = silent
) -> PreparedTable:
    """Samples with labels, everything about their columns found out from the table itself."""
    source = source if isinstance(source, Source) else Source(source)
    study = read(source, columns, told)
    with naming_sheet(study.notes):
        return _prepared(source, study, wishes)


def _prepared(source: Source, study: Study, wishes: Wishes) -> PreparedTable:
    columns, frame = study.columns, study.frame
    if columns.target is None:
        raise TableError(
            f"{study.path}: --target is required, the column with the labels; the columns are "
            f"{shortened(list(frame.columns))}"
        )
    if columns.target not in frame.columns and source.phenotype is None:
        line = unknown(study.path, "--target", columns.target, frame.columns)
        mend = "" if line.endswith("?") else "; --phenotype FILE is for labels in a file of their own"
        raise TableError(line + mend)
    check_roles(source.phenotype or study.path, frame.columns, study.features or (), columns)
    names = frame.columns if study.features is None else study.features
    features = [str(name) for name in names if name not in columns.special]
    if not features:
        raise TableError(
            f"{study.path}: no columns are left to factorize; name fewer in --covariates and --drop"
        )
    where = f"{source.phenotype or study.path}: column {columns.target!r}"
    y = labels_of(frame[columns.target], where, wishes.unlabeled)
    groups = None if columns.group is None else _groups(study.said, frame, columns.group)
    ids, named = sample_ids(frame, columns.id)
    values, positions = features_of(study, features, named, gaps=wishes.impute != "none")
    blocks, sparse = ranges_of_kept(study.blocks, positions), is_sparse(values)
    few = rare(y, groups, wishes.min_class) if wishes.min_class else {}
    if few:
        keep = [label not in few for label in y.tolist()]
        _check_classes_left(where, y[keep], wishes.min_class)
        values, y, ids, frame = values[keep], y[keep], ids[keep], frame[keep]
        y = y if y.dtype.kind == "O" and not is_labeled(y).all() else known(y)
        groups, named = (None if x is None else x[keep] for x in (groups, named))
    values, features, blocks, gaps = without_empty(study.path, values, features, blocks, wishes.impute, ids)
    encoding = encoding_of.learn_encoding(study.said, frame, columns.covariates)
    levels = confounders_of.learn_levels(study.said, frame, columns.adjust)
    why = "filled in" if gaps is not None else "adjusted"
    if gaps is not None or levels:
        values = as_dense(study.path, values, why)
    dense = [zeros_written_out(values, why)] if sparse and not is_sparse(values) else []
    X, names = assembled(study.said, frame, values, features, encoding, levels, wishes.log2, named)
    notes = [*study.notes, *dense, *_about_labels(y, few, wishes), *encoding_of.notes(encoding)]
    notes += [] if gaps is None else gaps_of.notes(gaps, len(y))
    notes += confounders_of.notes(frame, levels, y)
    notes += _unknown_confounders(X, len(names), levels)
    if not is_sparse(values):
        notes += about_identifiers(features, values, columns.id is not None)
        notes += [] if wishes.log2 else about_intensities(values)
    return PreparedTable(
        study.path,
        columns,
        X,
        names,
        y,
        ids,
        encoding,
        tuple(notes),
        groups,
        levels,
        blocks,
        gaps,
        study.joined,
        {str(label): count for label, count in few.items()},
        study.title,
        confounders_of.table(frame, levels),
        gaps_of.shares_missing(X, len(features)),
    )


def for_model(study: Study, about: dict[str, Any]) -> PreparedTable:
    """Samples in the columns of a fitted model; any others are left alone, and y is not looked at.

    Parameters
    ----------
    about : the metadata of the model
    """
    path, frame, columns = study.path, study.frame, study.columns
    features, encoding = about["features"].tolist(), about["covariates"]
    levels = about.get("confounders", {})
    present = set(frame.columns)
    there = present if study.features is None else set(study.features)
    absent = [name for name in features if name not in there]
    blocks = about.get("blocks", {})
    gone = [name for name, (start, stop) in blocks.items() if set(features[start:stop]) <= set(absent)]
    if len(gone) < len(blocks):  # a sample may be without a block, and all of them may
        of_blocks = {name for block in gone for name in features[slice(*blocks[block])]}
        absent = [name for name in absent if name not in of_blocks]
    absent += [name for name in encoding if name not in present]
    if absent:
        raise TableError(
            f"{path}: {len(absent)} of the model's {len(features) + len(encoding)} columns are "
            f"missing: {shortened(absent)}; add them, or fit a model without them"
        )
    if columns.id is not None and columns.id not in present:
        raise TableError(unknown(path, "--id", columns.id, frame.columns))
    ids, named = sample_ids(frame, columns.id)
    own = [name for name in features if name in there]
    values, _ = features_of(study, own, named, gaps=True)
    notes = list(study.notes)
    if len(own) < len(features):
        values = among(features, own, as_dense(path, values, "filled in"))
        notes.append(f"no block {shortened(gone)}: its features are missing values")
    without = [name for name in levels if name not in present]
    frame = frame.assign(**dict.fromkeys(without))
    values = as_model_takes(path, values, about)
    X, names = assembled(study.said, frame, values, features, encoding, levels, about["log2"], named)
    notes += _unknown_confounders(X, len(names), levels, without)
    missing = gaps_of.shares_missing(X, len(features))
    gaps = _gaps_of_new(missing, ids, about)
    if gaps is not None:
        notes += gaps_of.notes(gaps, len(ids))
    return PreparedTable(
        path,
        columns,
        X,
        names,
        None,
        ids,
        encoding,
        tuple(notes),
        confounders=levels,
        blocks=blocks,
        gaps=gaps,
        joined=study.joined,
        title=study.title,
        confounder_table=confounders_of.table(frame, levels),
        missing=missing,
    )


def sample_ids(table: pd.DataFrame, column: str | None) -> tuple[Any, Any]:
    """Names of the samples (n,) for the output, and those to call them by in messages, or None."""
    import numpy as np

    if column is None:
        return np.array([str(row) for row in range(1, len(table) + 1)]), None
    cells = table[column]
    ids = np.array(["" if gone else str(c) for c, gone in zip(cells, cells.isna(), strict=True)])
    return ids, ids


def _groups(path: Any, table: pd.DataFrame, column: str) -> Any:
    """Which samples belong together (n,), as words."""
    import numpy as np

    cells = table[column]
    if cells.isna().any():
        raise TableError(
            f"{path}: --group {column}: empty for {int(cells.isna().sum())} of {len(cells)} samples; "
            "fill in or remove them"
        )
    return np.array([str(cell) for cell in cells])


def _unknown_confounders(X: Any, seen: int, levels: Levels, absent: Sequence[str] = ()) -> list[str]:
    return confounders_of.unknown(levels, X[:, seen:], absent) if levels else []


def _gaps_of_new(shares: Any, ids: Any, about: dict[str, Any]) -> Gaps | None:
    """What is missing in new samples, a share (n,) of each, and how the model fills it in."""
    import numpy as np

    if not shares.any():
        return None
    own = about.get("gaps") or {}
    impute = own["impute"] if own.get("share") else "training means"
    poor = tuple(str(ids[i]) for i in np.flatnonzero(shares > gaps_of.MANY))
    return Gaps(float(shares.mean()), impute, (), poor)


def _check_classes_left(where: str, y: Any, fewest: int) -> None:
    left = set(known(y).tolist())
    if len(left) < 2:
        raise TableError(
            f"{where}: {'one class only has' if left else 'no class has'} {fewest} samples or more; two are "
            "required: --min-class with a smaller number"
        )


def _about_labels(y: Any, few: dict[Any, int], wishes: Wishes) -> list[str]:
    said = []
    if few:
        counted = ", ".join(f"{str(label)!r} ({count})" for label, count in few.items())
        said.append(
            f"{len(few)} class{'es' * (len(few) > 1)} with fewer than {wishes.min_class} samples left out: "
            f"{counted}"
        )
    for label, count in Counter(map(str, known(y).tolist())).items():
        if label.strip().lower() in _NO_LABELS:
            said.append(
                f"the label {label!r} of {count} sample{'s' * (count > 1)} is a class, and looks like none: "
                f"--unlabeled {shlex.quote(label)} takes it for no label"
            )
    unlabeled = len(y) - len(known(y))
    if unlabeled:
        said.append(
            f"{unlabeled} of {len(y)} samples have no label: they shape the factors, and are predicted"
        )
    elif wishes.unlabeled is not None:
        said.append(f"--unlabeled {wishes.unlabeled}: no label is {wishes.unlabeled!r}")
    return said
