"""`Study`: the samples of some files, ready for a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline

from superfactor._words import listed
from superfactor.preprocessing import Adjuster, BlockScaler, LowRankImputer
from superfactor.preprocessing.scaling import ColumnScaler
from superfactor.tables.columns import covariates as covariates_of
from superfactor.tables.columns.confounders import ConfounderLevels, coding
from superfactor.tables.columns.covariates import Encoding
from superfactor.tables.columns.missing import IMPUTE, Missing
from superfactor.tables.joining.source import Ranges, Sources
from superfactor.tables.notes import Note, Setting, TableError
from superfactor.tables.roles import Columns
from superfactor.tables.targets.columns import has_value, known


@dataclass(frozen=True)
class Wishes:
    """How a table is prepared before a fit.

    Attributes
    ----------
    log2 : take the logarithm of the features
    impute : treatment of missing values: "lowrank", "mean" or "none"
    unlabeled : a value that means "no label", in addition to empty cells
    min_class : leave out classes with fewer samples (or groups); 0 keeps all
    task : kind of target: "classes", "regression", "counts" or "labels"; None detects it
    event_word : the value that means an event
    """

    log2: bool = False
    impute: str = "lowrank"
    unlabeled: str | None = None
    min_class: int = 0
    task: str | None = None
    event_word: str | None = None

    def __post_init__(self) -> None:
        if self.impute not in IMPUTE:
            raise TableError(
                Setting("impute", self.impute), ": lowrank, mean or none is required", kind="gaps"
            )


@dataclass(frozen=True, eq=False)
class Study:
    """The samples that `read_study` returns.

    Attributes
    ----------
    design : ndarray or CSR matrix of shape (n, p + q + k)
        All input columns of a model: features, covariates as numbers, the exposure, confounders as numbers.
        NaN marks missing features and unknown confounders.
    names : tuple of p str
        Names of the features.
    y : ndarray of shape (n,) or (n, k), or None
        The outcome in the form that estimators take. Labels: integers, strings, or objects with None for
        samples without a label. Numbers, counts and flags: floats with NaN for missing values. Survival
        times: scikit-survival's structured array of events and times, with NaN for unknown times.
    outcome : str
        The kind of y, as in `superfactor.outcomes`: "classes", "numbers", "counts", "flags", "times".
    targets : tuple of str
        The columns of y; for survival, the time column and the event column.
    ids : ndarray of n str
        Names of the samples, or their numbers from 1 if the files have no names.
    groups : ndarray of n str, or None
        The group of each sample.
    covariates, confounders : DataFrame of n rows, or None
        Their values as in the files.
    notes : tuple of Note
        How the files were read, and what the data checks found.
    blocks : dict from the name of a block to the (start, stop) of its features; empty for one table
    gaps : missing values: ``share``, ``impute``, ``empty`` features, ``poor`` samples, features of a model
        that are ``absent``; None if there are none
    missing : ndarray of shape (n,)
        The share of missing features of each sample.
    joined : dict of the samples that a join lost, and why; empty for one file
    rare : dict from each class that was left out to its number of samples
    encoding : dict from a covariate to its levels, the reference first
    levels : dict from a confounder to its levels; an empty list for a numeric one
    roles, wishes, source : the parameters, with defaults filled in
    path, title : the first file, and the names of all files

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from superfactor.tables import read_study
    >>> path = pathlib.Path(tempfile.mkdtemp(), "cohort.csv")
    >>> rows = ["patient,status,age,TP53,KRAS", "P1,tumour,61,7.5,3", "P2,normal,58,NA,4", "P3,tumour,70,8,1"]
    >>> _ = path.write_text("\\n".join(rows))
    >>> study = read_study(path, target="status", id="patient", covariates=["age"])
    >>> study.X.shape, study.names, study.y.tolist()
    ((3, 2), ('TP53', 'KRAS'), ['tumour', 'normal', 'tumour'])
    >>> study.covariates["age"].tolist()
    [61.0, 58.0, 70.0]
    >>> print(study.notes[0])
    16.7 % of the values are missing and filled in by a low-rank fit
    """

    design: Any
    names: tuple[str, ...]
    y: Any
    ids: Any
    outcome: str = "classes"
    targets: tuple[str, ...] = ()
    groups: Any = None
    covariates: Any = None
    confounders: Any = None
    notes: tuple[Note, ...] = ()
    blocks: Ranges = field(default_factory=dict)
    gaps: Missing | None = None
    joined: dict[str, Any] = field(default_factory=dict)
    missing: Any = None
    rare: dict[str, int] = field(default_factory=dict)
    encoding: Encoding = field(default_factory=dict)
    levels: ConfounderLevels = field(default_factory=dict)
    roles: Columns = field(default_factory=Columns)
    wishes: Wishes = field(default_factory=Wishes)
    source: Sources = field(default_factory=Sources)
    path: Path = Path()
    title: str = ""

    @property
    def X(self) -> Any:
        """The features (n, p)."""
        return self.design[:, : self.n_features]

    def rows(self, positions: Any) -> Any:
        """Rows of `design` at `positions`; all rows in order are `design` itself, without a copy."""
        every = len(positions) == len(self.ids) and np.array_equal(positions, np.arange(len(positions)))
        return self.design if every else self.design[positions]

    @property
    def n_features(self) -> int:
        """p, the number of leading columns of `design` that are factorized."""
        return len(self.names)

    @property
    def covariate_names(self) -> tuple[str, ...]:
        """Names of the q covariate columns: ``age``, ``sex=M``."""
        return tuple(covariates_of.column_names(self.encoding))

    @property
    def model_names(self) -> tuple[str, ...]:
        """Names of the columns after adjustment: features, covariates, exposure."""
        exposure = () if self.roles.exposure is None else (self.roles.exposure,)
        return (*self.names, *self.covariate_names, *exposure)

    @property
    def target(self) -> str:
        """The names of the outcome columns, joined."""
        return listed(self.targets)

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of all columns of `design`."""
        return (*self.model_names, *coding(self.levels).column_names)

    @property
    def labeled(self) -> Any:
        """Whether each sample has an outcome (n,), bool."""
        return has_value(self.y)

    @property
    def record(self) -> dict[str, Any]:
        """Plain values with which `read_study` reads other files in the same way (its parameter `like`)."""
        roles, wishes, source = self.roles, self.wishes, self.source
        return {
            "table": self.path.name,
            "target": self.target,
            "outcome": self.outcome,
            "targets": list(self.targets),
            "y": {"time": roles.time, "event": roles.event} if roles.time else {"target": list(self.targets)},
            "exposure": roles.exposure,
            "event_word": wishes.event_word,
            "id": roles.id,
            "group": roles.group,
            "log2": wishes.log2,
            "layout": source.layout,
            "sheet": source.sheet,
            "layer": source.layer,
            "missing": list(source.missing),
            "unlabeled": wishes.unlabeled,
            "rare": list(self.rare),
            "features": np.array(self.names),
            "covariates": self.encoding,
            "confounders": self.levels,
            "blocks": {name: list(ends) for name, ends in self.blocks.items()},
            "sparse": sp.issparse(self.design),
            "gaps": None if self.gaps is None else self.gaps.as_dict(),
            "join": self.joined,
            "classes": self._classes,
        }

    def named(self, y: Any) -> Any:
        """y of some samples; several targets (n, k) as a DataFrame with their names."""
        if y.ndim == 1:
            return y
        import pandas as pd

        return pd.DataFrame(y, columns=list(self.targets))

    @property
    def _classes(self) -> list[Any]:
        """Sorted labels; empty if y holds no labels."""
        if self.y is None or self.y.dtype.names or self.y.dtype.kind == "f":
            return []
        return list(np.unique(known(self.y)).tolist())

    def search_options(self, *, standardize: bool = True) -> dict[str, Any]:
        """Return parameters of a search on `design`: imputation, adjustment, scaling, covariates.

        Parameters
        ----------
        standardize : bool, default=True
            Scale every column to variance 1. If False, columns are only centered.

        Returns
        -------
        options : dict
            ``impute``, ``preprocess`` and ``covariate_columns`` of `SMFClassifierCV` and other searches;
            ``exposure_column`` if there is an exposure.
        """
        p, q = self.n_features, len(self.covariate_names)
        exposure = {} if self.roles.exposure is None else {"exposure_column": p + q}
        columns = list(range(p, p + q)) or None
        return {**self._preprocessing(standardize), "covariate_columns": columns, **exposure}

    def _preprocessing(self, standardize: bool) -> dict[str, Any]:
        """The parameters `impute` and `preprocess`: strings if they suffice, else a Pipeline."""
        gaps, sparse = self.gaps, sp.issparse(self.design)
        # None: neither samples of the fit nor new ones may have missing values.
        impute = None if self.wishes.impute == "none" else self.wishes.impute
        if not self.levels and not self.blocks:
            scaling = "standardize" if standardize else None if sparse else "center"
            return {"impute": impute, "preprocess": scaling}
        p, seen, width = self.n_features, len(self.model_names), self.design.shape[1]
        steps: list[tuple[str, Any]] = []
        if gaps is not None and gaps.share:
            steps.append(("imputer", _imputer(gaps.impute, list(range(p, width)))))
        if self.levels:
            steps.append(
                ("adjuster", Adjuster(list(range(seen, width)), keep=list(range(p, seen)), keep_missing=True))
            )
        if standardize or not sparse:
            # Sparse columns are not centered, so that they stay sparse.
            passed = None if self.roles.exposure is None else [seen - 1]
            steps.append(("scaler", ColumnScaler(passed, with_mean=not sparse, with_std=standardize)))
        if self.blocks:
            slices = {name: slice(*ends) for name, ends in self.blocks.items()}
            steps.append(("blocks", BlockScaler(slices, keep_missing=True)))
        return {"impute": impute, "preprocess": Pipeline(steps) if steps else None}


def _imputer(impute: str, others: list[int]) -> Any:
    """Return an imputer of all columns but `others`, the covariates and confounders.

    A column without values in one fold is kept, so that column positions do not change.
    """
    if impute == "mean":
        # Covariates have no missing values, and confounders at their means adjust nothing.
        return SimpleImputer(keep_empty_features=True)
    return LowRankImputer(passthrough_columns=others or None, keep_empty_features=True)


def record_of(like: Study | Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the record of a study, or of a model that was fitted to one."""
    if isinstance(like, Study):
        return like.record
    if not isinstance(like, Mapping) or "features" not in like:
        raise TypeError(
            f"like={type(like).__name__}: a Study is required, or superfactor.saving.read(path).about of a "
            "model that was saved with about=study.record"
        )
    return like
