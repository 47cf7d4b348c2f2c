"""`read_study`: read files for a fit, or in the columns of an earlier fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from superfactor.tables.columns import confounders as confounders_of
from superfactor.tables.columns import covariates as covariates_of
from superfactor.tables.columns import missing as missing_values
from superfactor.tables.columns.checks import about_copies, about_identifiers, about_intensities
from superfactor.tables.columns.codes import about_codes
from superfactor.tables.columns.confounders import ConfounderLevels
from superfactor.tables.columns.covariates import Encoding
from superfactor.tables.columns.matrix import among, as_model_takes, assembled, features_of, without_empty
from superfactor.tables.columns.numbers import as_dense, made_dense
from superfactor.tables.expected import check_blocks, with_outcome
from superfactor.tables.joining.reading import read
from superfactor.tables.joining.source import (
    Combined,
    Progress,
    Sources,
    no_progress,
    ranges_of_kept,
    sources_of,
    with_defaults,
)
from superfactor.tables.notes import Setting, TableError, note, shortened
from superfactor.tables.roles import Columns, check_roles, no_such_column
from superfactor.tables.study import Study, Wishes, record_of
from superfactor.tables.targets import kinds, labels, measured
from superfactor.tables.targets.columns import TargetColumns, has_value, known

if TYPE_CHECKING:
    import pandas as pd


def read_study(
    files: Any = None,
    *,
    target: str | Sequence[str] = (),
    time: str | None = None,
    event: str | None = None,
    event_word: str | None = None,
    task: str | None = None,
    exposure: str | None = None,
    id: str | None = None,
    covariates: Sequence[str] = (),
    group: str | None = None,
    adjust: Sequence[str] = (),
    drop: Sequence[str] = (),
    phenotype: str | Path | None = None,
    blocks: Mapping[str, str | Path] | None = None,
    layout: str | None = None,
    sheet: str | None = None,
    layer: str | None = None,
    missing: str | float | Sequence[str | float] = (),
    unlabeled: str | None = None,
    min_class: int = 0,
    log2: bool = False,
    impute: str = "lowrank",
    like: Study | Mapping[str, Any] | None = None,
    progress: Progress = no_progress,
) -> Study:
    """Read the samples of one or more files: features, outcome, covariates, groups, confounders.

    Parameters
    ----------
    files : path, or dict from the name of a block to its path
        Files that `open_table` reads; ``book.xlsx:clinical`` is a sheet of a workbook.
    target : str or sequence of str, optional
        The outcome column; ``type`` for a CuMiDa table. Several columns are several labels if all hold 0/1,
        no/yes or FALSE/TRUE, and several targets if all hold numbers. Required, unless `time` and `event` or
        `like` are given.
    time, event : str, optional
        Survival: the column of the time until which a sample was observed, and the column that states
        whether an event was seen then: 0/1, FALSE/TRUE, R's 1/2, or words.
    event_word : str, optional
        The word in `event` that means an event.
    task : "classes", "regression", "counts" or "labels", optional
        The kind of target. By default words and few integers are classes, and other numbers are predicted as
        numbers; "counts" predicts integers from 0.
    exposure : str, optional
        The exposure of counts: hours, area, library size.
    id : str, optional
        The column of sample names, by which files are joined; detected by default.
    covariates : sequence of str
        Predictors that are not factorized: numbers or words.
    group : str, optional
        The column with the group of each sample, for example the patient.
    adjust : sequence of str
        Confounders, which are regressed out of the features: batch, site.
    drop : sequence of str
        Columns to leave out.
    phenotype : path, optional
        A file with labels, covariates and groups, one sample per row.
    blocks : dict from name to path, optional
        Further tables of the same samples. The features of a block are missing for samples it lacks.
    layout : "auto", "samples" or "features", optional
        What the rows of a table are.
    sheet, layer : str, optional
        The sheet of Excel files, and the layer of ``.h5ad`` files.
    missing : number, str or sequence of these, optional
        Numbers or words that mean a missing value, in addition to empty cells and NA: -999, "not done". In
        features, covariates, confounders and outcomes.
    unlabeled : str, optional
        A value that means "no label", in addition to empty cells.
    min_class : int, default=0
        Leave out classes with fewer samples (fewer groups, if `group` is given).
    log2 : bool, default=False
        Take log2 of the features; values below 1 count as 1.
    impute : "lowrank", "mean" or "none", default="lowrank"
        How `Study.search_options` treats missing values; "none" raises an error.
    like : Study or mapping, optional
        Another study, or the record of one in a saved model. Its features, covariates and confounders are
        read, in its column order; other columns are ignored. Absent features become missing values, with a
        note; absent covariates are an error. y is read only if `target`, or `time` and `event`, are given.
    progress : callable, optional
        Called with a message such as ``reading a.csv``. Returns a context manager that yields None or a
        callable, which receives the bytes done and the total.

    Returns
    -------
    study : Study
        The data, with attributes such as ``X``, ``y``, ``covariates``, ``groups``, ``names`` and ``notes``.

    Raises
    ------
    TableError
        A ValueError: the files or columns need a correction; the message states what and where.
    OSError
        A file cannot be opened.

    Examples
    --------
    What ``superfactor fit`` does, without saving the model:

    >>> import pathlib, tempfile
    >>> from superfactor import SMFClassifierCV
    >>> from superfactor.datasets import load_prostate
    >>> from superfactor.tables import read_study
    >>> path = pathlib.Path(tempfile.mkdtemp(), "prostate.csv")
    >>> data = load_prostate()
    >>> lines = [",".join(["type", *data.features[:50]])]
    >>> lines += [",".join(map(str, [label, *row[:50]])) for label, row in zip(data.y, data.X)]
    >>> _ = path.write_text("\\n".join(lines))
    >>> study = read_study(path, target="type")
    >>> search = SMFClassifierCV(2, xi=0.1, lam=1.0, **study.search_options()).fit(study.design, study.y)
    >>> search.n_features_in_
    50
    >>> new = read_study(path, like=study)
    >>> search.predict(new.design).shape == study.y.shape
    True
    """
    source = sources_of(files, blocks, phenotype, layout, sheet, layer, missing)
    named = (_named(target), id, _named(covariates), _named(drop), group, _named(adjust))
    roles = Columns(*named, time, event, exposure)
    wishes = Wishes(log2, impute, unlabeled, min_class, task, event_word)
    if like is not None:
        return _read_like(record_of(like), source, roles, wishes, progress)
    kinds.check_asked(roles, task, event_word, min_class)
    combined = read(source, roles, progress)
    return _for_fitting(source, combined, wishes)


def _named(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return distinct names; a single name becomes a tuple."""
    return tuple(dict.fromkeys([names] if isinstance(names, str) else names))


# --- for a fit ------------------------------------------------------------------------------------


def _for_fitting(source: Sources, combined: Combined, wishes: Wishes) -> Study:
    """Read samples with an outcome; column properties are learned from the table."""
    roles, frame = combined.roles, combined.frame
    features = _features(source, combined)
    ids, named = _sample_ids(frame, roles.id)
    columns = _target(source, combined, wishes, named)
    outcome, y, chosen = kinds.read(columns, timed=roles.time is not None, task=wishes.task)
    kind = kinds.KINDS[outcome]
    groups = None if roles.group is None else _groups(combined.label, frame, roles.group)
    values, positions = features_of(combined, features, named, gaps=wishes.impute != "none")
    blocks, sparse = ranges_of_kept(combined.blocks, positions), sp.issparse(values)
    few = labels.rare(columns, y, groups, wishes.min_class) if wishes.min_class else {}
    if few:
        keep = [label not in few for label in y.tolist()]
        values, y, ids, frame = values[keep], y[keep], ids[keep], frame[keep]
        y = y if y.dtype.kind == "O" and not has_value(y).all() else known(y)
        groups, named = (None if x is None else x[keep] for x in (groups, named))
    values, features, blocks, gaps = without_empty(
        combined.path, values, features, blocks, wishes.impute, ids
    )
    encoding = covariates_of.learn_encoding(combined.label, frame, roles.covariates, named)
    levels = confounders_of.learn_levels(combined.label, frame, roles.adjust, named)
    codes = about_codes((features, values), _numeric(frame, encoding), (columns.names, kind.as_numbers(y)))
    why = "imputed" if gaps is not None else "adjusted"
    if gaps is not None or levels:
        values = as_dense(combined.path, values, why)
    out_of = _exposure(combined.label, frame, roles.exposure, named)
    design, added, new_notes = assembled(
        combined.label, frame, values, features, encoding, levels, wishes.log2, named, out_of
    )
    notes = [*combined.notes, *chosen]
    notes += [made_dense(values, why)] if sparse and not sp.issparse(values) else []
    notes += codes
    notes += labels.notes_on_rare(few, wishes.min_class)
    notes += kinds.notes_on_missing(outcome, y, wishes.unlabeled)
    notes += [*covariates_of.notes(encoding), *new_notes, *missing_values.notes(gaps, len(y))]
    notes += confounders_of.notes(frame, levels, kind.as_labels(y))
    seen = len(features) + len(added) + (out_of is not None)
    notes += confounders_of.unknown(levels, design[:, seen:]) if levels else []
    if not sp.issparse(values):
        notes += about_copies(features, values, kind.as_numbers(y), columns.names)
        notes += about_identifiers(features, values, roles.id is not None)
        notes += [] if wishes.log2 else about_intensities(values)
    return Study(
        design,
        tuple(features),
        y,
        ids,
        outcome,
        columns.names,
        groups=groups,
        notes=tuple(notes),
        blocks=blocks,
        gaps=gaps,
        rare={str(label): count for label, count in few.items()},
        missing=missing_values.shares_missing(design, len(features)),
        wishes=wishes,
        **_known(source, combined, frame, encoding, levels),
    )


def _numeric(frame: pd.DataFrame, encoding: Encoding) -> tuple[list[str], Any]:
    """Names and values (n, q) of the covariates that are numbers."""
    names = [name for name in encoding if frame[name].dtype.kind == "f"]
    return names, frame[names].to_numpy(dtype=np.float64)


def _known(
    source: Sources, combined: Combined, frame: pd.DataFrame, encoding: Encoding, levels: ConfounderLevels
) -> dict[str, Any]:
    """Attributes of a Study that do not depend on why it is read."""
    return {
        "covariates": covariates_of.table(frame, encoding),
        "confounders": confounders_of.table(frame, levels),
        "joined": combined.joined,
        "encoding": encoding,
        "levels": levels,
        "roles": combined.roles,
        "source": source,
        "path": combined.path,
        "title": combined.title,
    }


def _features(source: Sources, combined: Combined) -> list[str]:
    """Check all roles and return the names of the columns without a role."""
    roles, columns, path = combined.roles, combined.frame.columns, combined.path
    if not roles.outcome:
        either = (" is required, the column with the labels, or ", Setting("time"), " and ", Setting("event"))
        there = f"; the columns are {shortened(list(columns))}"
        raise TableError(f"{path}: ", Setting("target"), *either, there, kind="roles")
    wrong = [name for name in roles.outcome if name not in columns]
    if wrong and source.phenotype is None:
        role = "target" if roles.target else "time" if wrong[0] == roles.time else "event"
        error = no_such_column(path, role, wrong[0], columns)
        if error.fields["close"]:
            raise error
        hint = ("; ", Setting("phenotype", "FILE"), " reads labels from a separate file")
        raise TableError(*error.args, *hint, kind="roles", column=wrong[0])
    check_roles(source.phenotype or path, columns, {*(combined.features or ()), *combined.dropped}, roles)
    names = columns if combined.features is None else combined.features
    features = [str(name) for name in names if name not in roles.special]
    if not features:
        fewer = (Setting("covariates"), " and ", Setting("drop"))
        raise TableError(f"{path}: no columns are left to factorize; name fewer in ", *fewer, kind="roles")
    return features


def _target(source: Sources, combined: Combined, wishes: Wishes, ids: Any) -> TargetColumns:
    """The outcome columns, before their kind is known."""
    path, names = source.phenotype or combined.path, combined.roles.outcome
    return TargetColumns(path, combined.frame, names, wishes.unlabeled, wishes.event_word, ids)


def _exposure(path: Any, frame: pd.DataFrame, name: str | None, ids: Any) -> Any:
    """The exposure (n, 1); None if no column is named."""
    return None if name is None else measured.exposure(TargetColumns(path, frame, (name,), ids=ids))


def _sample_ids(table: pd.DataFrame, column: str | None) -> tuple[Any, Any]:
    """Names of the samples (n,) for output, and names for messages, or None."""
    if column is None:
        return np.array([str(row) for row in range(1, len(table) + 1)]), None
    cells = table[column]
    ids = np.array(["" if gone else str(c) for c, gone in zip(cells, cells.isna(), strict=True)])
    return ids, ids


def _groups(path: Any, table: pd.DataFrame, column: str) -> Any:
    """The group of each sample (n,), as str."""
    cells = table[column]
    if cells.isna().any():
        line = f": empty for {int(cells.isna().sum())} of {len(cells)} samples; fill in or remove them"
        raise TableError(f"{path}: ", Setting("group", column), line, kind="groups", column=column)
    return np.array([str(cell) for cell in cells])


# --- like another study ---------------------------------------------------------------------------


def _read_like(
    about: Mapping[str, Any], source: Sources, asked: Columns, wishes: Wishes, progress: Progress
) -> Study:
    """Read samples in the columns of a study with this record; y only if a target is given."""
    source = source.like(about)
    levels = about.get("confounders", {})
    covariates, adjust = tuple(about["covariates"]), tuple(levels)
    roles = replace(
        asked,
        id=asked.id or about["id"],
        covariates=covariates,
        adjust=adjust,
        exposure=about.get("exposure"),
    )
    # Read as text, even if all levels in this table look like numbers.
    words = [*covariates_of.words(about["covariates"]), *(name for name in levels if levels[name])]
    combined = read(source, roles, progress, words=words, wanted=set(about["features"].tolist()))
    check_blocks(source, combined, about)
    if asked.id is None and combined.roles.id not in combined.frame.columns:
        combined = _by_own_names(combined, about["id"])
    where = source.phenotype or combined.path
    if not asked.outcome:
        return _in_columns_of(about, source, combined, wishes)
    combined = with_outcome(combined, where, asked.outcome, about)
    study = _in_columns_of(about, source, combined, wishes)
    kind = kinds.KINDS[about.get("outcome", "classes")]
    unlabeled = wishes.unlabeled or about.get("unlabeled")
    event_word = wishes.event_word or about.get("event_word")
    ids = None if study.roles.id is None else study.ids
    columns = TargetColumns(where, combined.frame, asked.outcome, unlabeled, event_word, ids)
    y = kind.read_new(columns, about)
    notes = (*study.notes, *kind.notes_on_new(columns, y))
    return replace(study, y=y, notes=notes, targets=asked.outcome)


def _in_columns_of(about: Mapping[str, Any], source: Sources, combined: Combined, wishes: Wishes) -> Study:
    path, frame, roles = combined.path, combined.frame, combined.roles
    features, encoding = about["features"].tolist(), about["covariates"]
    levels, blocks = about.get("confounders", {}), about.get("blocks", {})
    present = set(frame.columns)
    there = present if combined.features is None else set(combined.features)
    absent = [name for name in features if name not in there]
    gone = [name for name, (start, stop) in blocks.items() if set(features[start:stop]) <= set(absent)]
    required = [name for name in (*encoding, roles.exposure) if name is not None and name not in present]
    # There is nothing to complete from, or an absent value means 0.
    if len(absent) == len(features) or about.get("sparse", False):
        required = [*absent, *required]
    if required:
        raise TableError(
            f"{path}: {len(required)} of the model's {len(features) + len(encoding)} columns "
            f"{'is' if len(required) == 1 else 'are'} missing: {shortened(required)}; add them, or "
            "fit a model without them",
            kind="model",
            columns=required,
        )
    if roles.id is not None and roles.id not in present:
        raise no_such_column(path, "id", roles.id, frame.columns)
    ids, named = _sample_ids(frame, roles.id)
    own = [name for name in features if name in there]
    values, _ = features_of(combined, own, named, gaps=True)
    notes = [*combined.notes, *about_codes((own, values), _numeric(frame, encoding))]
    if absent:
        values = among(features, own, as_dense(path, values, "imputed"))
    if gone:
        notes.append(note("block", f"no block {shortened(gone)}: its features are missing values"))
    without = [name for name in levels if name not in present]
    frame = frame.assign(**dict.fromkeys(without))
    values = as_model_takes(path, values, about)
    out_of = _exposure(combined.label, frame, roles.exposure, named)
    design, added, new_notes = assembled(
        combined.label, frame, values, features, encoding, levels, about["log2"], named, out_of
    )
    notes += new_notes
    seen = len(features) + len(added) + (out_of is not None)
    notes += confounders_of.unknown(levels, design[:, seen:], without) if levels else []
    missing = missing_values.shares_missing(design, len(features))
    gaps = missing_values.missing_in_new(missing, ids, about, absent)
    return Study(
        design,
        tuple(features),
        None,
        ids,
        about.get("outcome", "classes"),
        tuple(about.get("targets") or [about["target"]]),
        notes=(*notes, *missing_values.notes(gaps, len(ids), len(features))),
        blocks={name: (start, stop) for name, (start, stop) in blocks.items()},
        gaps=gaps,
        missing=missing,
        wishes=replace(wishes, log2=about["log2"]),
        **_known(source, combined, frame, encoding, levels),
    )


def _by_own_names(combined: Combined, missed: str | None) -> Combined:
    """Use the table's own sample names if it lacks the model's column of names."""
    own = with_defaults(Columns(), combined.frame).id
    notes = combined.notes
    if own is None and missed is not None:
        line = f"no column {missed!r} with sample names: rows are numbered; "
        notes += (note("names", line, Setting("id"), " names another column"),)
    return replace(combined, roles=replace(combined.roles, id=own), notes=notes)
