"""`read_study`: files become X, y and what goes with them; for a fit, or in the columns of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from superfactor.tables.columns import confounders as confounders_of
from superfactor.tables.columns import covariates as covariates_of
from superfactor.tables.columns import gaps as gaps_of
from superfactor.tables.columns import labels as labels_of_study
from superfactor.tables.columns.confounders import ConfounderLevels
from superfactor.tables.columns.covariates import Encoding
from superfactor.tables.columns.labels import is_labeled, known, labels_among, labels_of, rare
from superfactor.tables.columns.matrix import among, as_model_takes, assembled, features_of, without_empty
from superfactor.tables.columns.numbers import as_dense, zeros_written_out
from superfactor.tables.columns.suspicion import about_identifiers, about_intensities
from superfactor.tables.joining.reading import naming_sheet, read
from superfactor.tables.joining.source import (
    Combined,
    Progress,
    Sources,
    ranges_of_kept,
    silent,
    sources_of,
    with_defaults,
)
from superfactor.tables.notes import Setting, TableError, note, shortened
from superfactor.tables.roles import Columns, check_roles, no_such_column
from superfactor.tables.study import Study, Wishes, record_of

if TYPE_CHECKING:
    import pandas as pd


def read_study(
    files: Any = None,
    *,
    target: str | None = None,
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
    unlabeled: str | None = None,
    min_class: int = 0,
    log2: bool = False,
    impute: str = "lowrank",
    like: Study | Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> Study:
    """Read files about some samples: features, labels, and what else is known of them.

    Parameters
    ----------
    files : path, or dict from the name of a block to its path
        As `open_table` takes them; ``book.xlsx:clinical`` is a sheet of a workbook.
    target : str, optional
        The column with the labels; of a CuMiDa table ``type``. Required, unless samples are read `like`
        others.
    id : str, optional
        The column with names of samples, by which files are joined; by default found out.
    covariates : sequence of str
        Columns that help to predict and are not factorized: numbers or words.
    group : str, optional
        The column that says which samples belong together, as those of one patient.
    adjust : sequence of str
        Columns whose share is taken out of the features: batch, site.
    drop : sequence of str
        Columns to leave out.
    phenotype : path, optional
        A file with labels, covariates and groups, one sample a row.
    blocks : dict from name to path, optional
        Further tables of the same samples. A sample that is not in one misses its features.
    layout : "auto", "samples" or "features", optional
        What the rows of tables are.
    sheet, layer : str, optional
        Of Excel files, and of ``.h5ad`` files.
    unlabeled : str, optional
        What stands for no label, besides an empty cell.
    min_class : int, default=0
        Leave out classes with fewer samples (or groups, where there are some).
    log2 : bool, default=False
        Take log2 of the features; values below 1 count as 1.
    impute : "lowrank", "mean" or "none", default="lowrank"
        What `Study.search_options` does about missing values; "none" refuses them.
    like : Study or mapping, optional
        Another study, or the record of one that a saved model has: its features, covariates and confounders
        are read, in its columns, and all else is left alone. y is read only where `target` names a column.
    progress : callable, optional
        Called with what is being read, as in ``reading a.csv``; gives a context with a callable of bytes
        done and in all, or with None.

    Returns
    -------
    study : Study
        Its ``X``, ``y``, ``covariates``, ``groups``, ``confounders``, ``names`` and ``notes``, among others.

    Raises
    ------
    TableError
        A ValueError: something in the files or about the columns has to be put right; the message says what
        and where.
    OSError
        A file cannot be opened.

    Examples
    --------
    What ``superfactor fit`` does, but for the saving:

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
    source = sources_of(files, blocks, phenotype, layout, sheet, layer)
    roles = Columns(target, id, _named(covariates), _named(drop), group, _named(adjust))
    wishes = Wishes(log2, impute, unlabeled, min_class)
    if like is not None:
        return _read_like(record_of(like), source, roles, wishes, progress)
    combined = read(source, roles, progress)
    with naming_sheet(combined.notes):
        return _for_fitting(source, combined, wishes)


def _named(names: str | Sequence[str]) -> tuple[str, ...]:
    """Each once; one name is a tuple of one."""
    return tuple(dict.fromkeys([names] if isinstance(names, str) else names))


# --- for a fit ------------------------------------------------------------------------------------


def _for_fitting(source: Sources, combined: Combined, wishes: Wishes) -> Study:
    """Samples with labels, everything about their columns found out from the table itself."""
    roles, frame = combined.roles, combined.frame
    features = _features(source, combined)
    where, y = _target(source, combined, wishes)
    groups = None if roles.group is None else _groups(combined.said, frame, roles.group)
    ids, named = _sample_ids(frame, roles.id)
    values, positions = features_of(combined, features, named, gaps=wishes.impute != "none")
    blocks, sparse = ranges_of_kept(combined.blocks, positions), sp.issparse(values)
    few = rare(where, y, groups, wishes.min_class) if wishes.min_class else {}
    if few:
        keep = [label not in few for label in y.tolist()]
        values, y, ids, frame = values[keep], y[keep], ids[keep], frame[keep]
        y = y if y.dtype.kind == "O" and not is_labeled(y).all() else known(y)
        groups, named = (None if x is None else x[keep] for x in (groups, named))
    values, features, blocks, gaps = without_empty(
        combined.path, values, features, blocks, wishes.impute, ids
    )
    encoding = covariates_of.learn_encoding(combined.said, frame, roles.covariates)
    levels = confounders_of.learn_levels(combined.said, frame, roles.adjust)
    why = "filled in" if gaps is not None else "adjusted"
    if gaps is not None or levels:
        values = as_dense(combined.path, values, why)
    design, beside, said = assembled(
        combined.said, frame, values, features, encoding, levels, wishes.log2, named
    )
    notes = list(combined.notes)
    notes += [zeros_written_out(values, why)] if sparse and not sp.issparse(values) else []
    notes += labels_of_study.notes(y, few, wishes.min_class, wishes.unlabeled)
    notes += [*covariates_of.notes(encoding), *said, *gaps_of.notes(gaps, len(y))]
    notes += confounders_of.notes(frame, levels, y)
    notes += confounders_of.unknown(levels, design[:, len(features) + len(beside) :]) if levels else []
    if not sp.issparse(values):
        notes += about_identifiers(features, values, roles.id is not None)
        notes += [] if wishes.log2 else about_intensities(values)
    return Study(
        design,
        tuple(features),
        y,
        ids,
        groups=groups,
        notes=tuple(notes),
        blocks=blocks,
        gaps=gaps,
        rare={str(label): count for label, count in few.items()},
        missing=gaps_of.shares_missing(design, len(features)),
        wishes=wishes,
        **_known(source, combined, frame, encoding, levels),
    )


def _known(
    source: Sources, combined: Combined, frame: pd.DataFrame, encoding: Encoding, levels: ConfounderLevels
) -> dict[str, Any]:
    """What a Study has of its files and columns, whatever it is read for."""
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
    """Names of the columns without a role, once all roles are checked."""
    roles, columns, path = combined.roles, combined.frame.columns, combined.path
    if roles.target is None:
        said = f" is required, the column with the labels; the columns are {shortened(list(columns))}"
        raise TableError(f"{path}: ", Setting("target"), said, kind="roles")
    if roles.target not in columns and source.phenotype is None:
        error = no_such_column(path, "target", roles.target, columns)
        if error.fields["close"]:
            raise error
        mend = ("; ", Setting("phenotype", "FILE"), " is for labels in a file of their own")
        raise TableError(*error.args, *mend, kind="roles", column=roles.target)
    check_roles(source.phenotype or path, columns, {*(combined.features or ()), *combined.dropped}, roles)
    names = columns if combined.features is None else combined.features
    features = [str(name) for name in names if name not in roles.special]
    if not features:
        fewer = (Setting("covariates"), " and ", Setting("drop"))
        raise TableError(f"{path}: no columns are left to factorize; name fewer in ", *fewer, kind="roles")
    return features


def _target(source: Sources, combined: Combined, wishes: Wishes) -> tuple[str, Any]:
    """What messages call the target, and y (n,): the one place that knows that it is labels."""
    target = combined.roles.target
    where = f"{source.phenotype or combined.path}: column {target!r}"
    return where, labels_of(combined.frame[target], where, wishes.unlabeled)


def _sample_ids(table: pd.DataFrame, column: str | None) -> tuple[Any, Any]:
    """Names of the samples (n,) for the output, and those to call them by in messages, or None."""
    if column is None:
        return np.array([str(row) for row in range(1, len(table) + 1)]), None
    cells = table[column]
    ids = np.array(["" if gone else str(c) for c, gone in zip(cells, cells.isna(), strict=True)])
    return ids, ids


def _groups(path: Any, table: pd.DataFrame, column: str) -> Any:
    """Which samples belong together (n,), as words."""
    cells = table[column]
    if cells.isna().any():
        line = f": empty for {int(cells.isna().sum())} of {len(cells)} samples; fill in or remove them"
        raise TableError(f"{path}: ", Setting("group", column), line, kind="groups", column=column)
    return np.array([str(cell) for cell in cells])


# --- like another study ---------------------------------------------------------------------------


def _read_like(
    about: Mapping[str, Any], source: Sources, asked: Columns, wishes: Wishes, progress: Progress
) -> Study:
    """Samples in the columns of a study with this record; y only where a target is asked for."""
    source = source.like(about)
    levels = about.get("confounders", {})
    covariates, adjust = tuple(about["covariates"]), tuple(levels)
    roles = Columns(asked.target, asked.id or about["id"], covariates=covariates, adjust=adjust)
    # As written, also where all levels of this table look like numbers.
    words = [*covariates_of.words(about["covariates"]), *(name for name in levels if levels[name])]
    combined = read(source, roles, progress, words=words, wanted=set(about["features"].tolist()))
    with naming_sheet(combined.notes):
        _check_blocks(source, combined, about)
        if asked.id is None and combined.roles.id not in combined.frame.columns:
            combined = _by_own_names(combined, about["id"])
        where = source.phenotype or combined.path
        if asked.target is not None:
            combined = _with_labels(combined, where, asked.target, about)
        study = _in_columns_of(about, source, combined, wishes)
        if asked.target is None:
            return study
        said = f"{where}: column {asked.target!r}"
        unlabeled = wishes.unlabeled or about.get("unlabeled")
        y = labels_among(combined.frame[asked.target], about["classes"], said, unlabeled)
        return replace(study, y=y)


def _in_columns_of(about: Mapping[str, Any], source: Sources, combined: Combined, wishes: Wishes) -> Study:
    path, frame, roles = combined.path, combined.frame, combined.roles
    features, encoding = about["features"].tolist(), about["covariates"]
    levels, blocks = about.get("confounders", {}), about.get("blocks", {})
    present = set(frame.columns)
    there = present if combined.features is None else set(combined.features)
    absent = [name for name in features if name not in there]
    gone = [name for name, (start, stop) in blocks.items() if set(features[start:stop]) <= set(absent)]
    if len(gone) < len(blocks):  # a sample may be without a block, and all of them may
        of_blocks = {name for block in gone for name in features[slice(*blocks[block])]}
        absent = [name for name in absent if name not in of_blocks]
    absent += [name for name in encoding if name not in present]
    if absent:
        raise TableError(
            f"{path}: {len(absent)} of the model's {len(features) + len(encoding)} columns are "
            f"missing: {shortened(absent)}; add them, or fit a model without them",
            kind="model",
            columns=absent,
        )
    if roles.id is not None and roles.id not in present:
        raise no_such_column(path, "id", roles.id, frame.columns)
    ids, named = _sample_ids(frame, roles.id)
    own = [name for name in features if name in there]
    values, _ = features_of(combined, own, named, gaps=True)
    notes = list(combined.notes)
    if len(own) < len(features):
        values = among(features, own, as_dense(path, values, "filled in"))
        notes.append(note("block", f"no block {shortened(gone)}: its features are missing values"))
    without = [name for name in levels if name not in present]
    frame = frame.assign(**dict.fromkeys(without))
    values = as_model_takes(path, values, about)
    design, beside, said = assembled(
        combined.said, frame, values, features, encoding, levels, about["log2"], named
    )
    notes += said
    seen = len(features) + len(beside)
    notes += confounders_of.unknown(levels, design[:, seen:], without) if levels else []
    missing = gaps_of.shares_missing(design, len(features))
    gaps = gaps_of.missing_in_new(missing, ids, about)
    return Study(
        design,
        tuple(features),
        None,
        ids,
        notes=(*notes, *gaps_of.notes(gaps, len(ids))),
        blocks={name: (start, stop) for name, (start, stop) in blocks.items()},
        gaps=gaps,
        missing=missing,
        wishes=replace(wishes, log2=about["log2"]),
        **_known(source, combined, frame, encoding, levels),
    )


def _by_own_names(combined: Combined, missed: str | None) -> Combined:
    """Samples by the names that the table has for them, where it lacks the column that the model knows."""
    own = with_defaults(Columns(), combined.frame).id
    notes = combined.notes
    if own is None and missed is not None:
        line = f"no column {missed!r} with names of samples: rows are numbered, and "
        notes += (note("names", line, Setting("id"), " names another"),)
    return replace(combined, roles=replace(combined.roles, id=own), notes=notes)


def _with_labels(combined: Combined, where: Path, target: str, about: Mapping[str, Any]) -> Combined:
    """Only samples of classes that were not left out of the fit for being rare; the labels are there."""
    if target not in combined.frame.columns:
        other = (" with ", Setting("target")) if target == about["target"] else ()
        line = (
            f"{where}: the column {target!r} with the labels is missing; add it, or name the one that holds"
        )
        raise TableError(f"{line} them", *other, kind="roles", column=target)
    few = about.get("rare", [])
    keep = ~combined.frame[target].isin(few).to_numpy()
    if keep.all():
        return combined
    line = f"{int((~keep).sum())} samples left out, of classes that the fit left out: {shortened(few)}"
    return combined.rows(keep, note("rare", line))


def _check_blocks(source: Sources, combined: Combined, about: Mapping[str, Any]) -> None:
    """Files that are called by the name of a block hold features of that block."""
    blocks, features = about.get("blocks") or {}, about["features"].tolist()
    for name, path in source.blocks if blocks else ():
        if path.suffix.lower() == ".h5mu":  # has blocks of its own
            continue
        given = Setting("blocks", {name: str(path)})
        if name not in blocks:
            line = f": the model has no block {name!r}; it has {shortened(list(blocks))}"
            raise TableError(given, line, kind="model")
        if combined.features is None:
            there = set(combined.frame.columns)
        else:
            ends = combined.blocks.get(name, (0, 0)) if combined.blocks else (0, None)
            there = set(combined.features[slice(*ends)])
        own = {other: features[slice(*blocks[other])] for other in blocks}
        if not there.intersection(own[name]):
            others = [other for other in blocks if there.intersection(own[other])]
            found = f", but those of {shortened(others)}" if others else ""
            raise TableError(
                given,
                f": none of the columns of the model's block {name!r} is in it{found}; "
                f"{shortened(own[name], 2)} are required",
                kind="model",
            )
