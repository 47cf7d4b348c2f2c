"""`Study`: the samples of some files, ready for a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
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
from superfactor.tables.columns.gaps import WAYS, Missing
from superfactor.tables.joining.source import Ranges, Sources
from superfactor.tables.notes import Note, Setting, TableError
from superfactor.tables.roles import Columns
from superfactor.tables.targets.columns import has_value, known


@dataclass(frozen=True)
class Wishes:
    """What is done to a table before anything is learned from it.

    Attributes
    ----------
    log2 : take the logarithm of the features
    impute : "lowrank", "mean" or "none", what becomes of missing values
    unlabeled : what is written where there is no label, besides nothing
    min_class : leave out classes with fewer samples, or groups; 0 leaves out none
    task : what the target is, "classes", "regression", "counts" or "labels"; None finds out
    event_word : what stands for an event
    """

    log2: bool = False
    impute: str = "lowrank"
    unlabeled: str | None = None
    min_class: int = 0
    task: str | None = None
    event_word: str | None = None

    def __post_init__(self) -> None:
        if self.impute not in WAYS:
            raise TableError(
                Setting("impute", self.impute), ": lowrank, mean or none is required", kind="gaps"
            )


@dataclass(frozen=True, eq=False)
class Study:
    """The samples of some files, as `read_study` reads them.

    Attributes
    ----------
    design : ndarray or CSR matrix of shape (n, p + q + k)
        All columns that a model takes: features, then covariates as numbers, then the exposure, then
        confounders as numbers. NaN where a feature is missing or a confounder unknown.
    names : tuple of p str
        Of the features.
    y : ndarray of shape (n,) or (n, k), or None
        In the form that estimators take. Labels: whole numbers, words, or objects with None for samples
        without a label. Numbers, counts and flags: floats, NaN where there is none. Survival times:
        scikit-survival's structured array of events and times, NaN for a time that is not known.
    outcome : str
        The kind of y, as `superfactor.outcomes` calls it: "classes", "numbers", "counts", "flags", "times".
    targets : tuple of str
        Its columns; of times, that of the time and that of the event.
    ids : ndarray of n str
        Names of the samples; their numbers from 1 where the files have none.
    groups : ndarray of n str, or None
        Which samples belong together.
    covariates, confounders : DataFrame of n rows, or None
        As they are written.
    notes : tuple of Note
        What to know about how the files were read, and what looks suspicious in them.
    blocks : dict from the name of a block to the (start, stop) of its features; empty for one table
    gaps : what is missing: ``share``, ``impute``, ``empty`` features, ``poor`` samples; None for nothing
    missing : ndarray of shape (n,)
        The share of the features that each sample misses.
    joined : dict of who was lost in a join and why; empty for one file
    rare : dict from classes that were left out to how many samples they had
    encoding : dict from a covariate to its levels, the reference first
    levels : dict from a confounder to its levels, none of a number
    roles, wishes, source : what was asked for, defaults filled in
    path, title : the first file, and the names of all

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
        """Those of `design` at positions; of all of them in their order it is `design` itself, no copy."""
        every = len(positions) == len(self.ids) and np.array_equal(positions, np.arange(len(positions)))
        return self.design if every else self.design[positions]

    @property
    def n_features(self) -> int:
        """p, the number of columns at the beginning of `design` that are factorized."""
        return len(self.names)

    @property
    def covariate_names(self) -> tuple[str, ...]:
        """Of the q columns behind the features: ``age``, ``sex=M``."""
        return tuple(covariates_of.column_names(self.encoding))

    @property
    def model_names(self) -> tuple[str, ...]:
        """Of the columns that a model sees, once confounders have left: features, covariates, exposure."""
        exposure = () if self.roles.exposure is None else (self.roles.exposure,)
        return (*self.names, *self.covariate_names, *exposure)

    @property
    def target(self) -> str:
        """The outcome in a few words, as in "what predicts …": the names of its columns."""
        return listed(self.targets)

    @property
    def column_names(self) -> tuple[str, ...]:
        """Of all columns of `design`."""
        return (*self.model_names, *coding(self.levels).column_names)

    @property
    def labeled(self) -> Any:
        """Which samples have a value (n,), as bool."""
        return has_value(self.y)

    @property
    def record(self) -> dict[str, Any]:
        """What it takes to read other files in the same way, in plain values: see `like` of `read_study`."""
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
        """y of some samples; several targets (n, k) as a DataFrame, so that a fit learns their names."""
        if y.ndim == 1:
            return y
        import pandas as pd

        return pd.DataFrame(y, columns=list(self.targets))

    @property
    def _classes(self) -> list[Any]:
        """Labels, sorted; none where y is no column of labels."""
        if self.y is None or self.y.dtype.names or self.y.dtype.kind == "f":
            return []
        return list(np.unique(known(self.y)).tolist())

    def search_options(self, *, standardize: bool = True) -> dict[str, Any]:
        """Parameters of a search for `design`: fill in, adjust, scale, as much as is needed; and covariates.

        Parameters
        ----------
        standardize : bool, default=True
            Give every column variance 1, or only take its mean off.

        Returns
        -------
        options : dict
            ``impute``, ``preprocess`` and ``covariate_columns`` of `SMFClassifierCV` and other searches, and
            ``exposure_column`` where there is an exposure.
        """
        p, beside = self.n_features, len(self.covariate_names)
        exposure = {} if self.roles.exposure is None else {"exposure_column": p + beside}
        columns = list(range(p, p + beside)) or None
        return {**self._preprocessing(standardize), "covariate_columns": columns, **exposure}

    def _preprocessing(self, standardize: bool) -> dict[str, Any]:
        """The parameters `impute` and `preprocess`: words that a search knows where they are enough."""
        gaps, sparse = self.gaps, sp.issparse(self.design)
        if not self.levels and not self.blocks:
            scaling = "standardize" if standardize else None if sparse else "center"
            return {"impute": "lowrank" if gaps is None else gaps.impute, "preprocess": scaling}
        p, seen, width = self.n_features, len(self.model_names), self.design.shape[1]
        steps: list[tuple[str, Any]] = []
        if gaps is not None and gaps.share:
            steps.append(("imputer", _imputer(gaps.impute, list(range(p, width)))))
        if self.levels:
            steps.append(("adjuster", Adjuster(list(range(seen, width)), keep=list(range(p, seen)))))
        if standardize or not sparse:
            # Means of sparse columns stay: without them zeros would be written out.
            passed = None if self.roles.exposure is None else [seen - 1]
            steps.append(("scaler", ColumnScaler(passed, with_mean=not sparse, with_std=standardize)))
        if self.blocks:
            slices = {name: slice(*ends) for name, ends in self.blocks.items()}
            steps.append(("blocks", BlockScaler(slices)))
        return {"impute": None, "preprocess": Pipeline(steps) if steps else None}

    def filled_by(self, model: Any) -> Study:
        """For a pipeline whose training samples had no gaps: its means in place of what is missing."""
        if "imputer" in model.named_steps or sp.issparse(self.design):
            return self
        p, X = self.n_features, self.design
        gaps = np.isnan(X[:, :p])
        if not gaps.any():
            return self
        # Also those of the features before they were adjusted: what is taken off has mean zero.
        means = np.broadcast_to(model.named_steps["scaler"].mean_[:p], gaps.shape)
        return replace(self, design=np.hstack([np.where(gaps, means, X[:, :p]), X[:, p:]]))


def _imputer(impute: str, others: list[int]) -> Any:
    """A transformer that fills in all columns but `others`, which are covariates and confounders.

    A column may have no value in one fold; it stays, so that the others are where they are.
    """
    if impute == "mean":
        # Covariates have no gaps, and confounders at their means take nothing out.
        return SimpleImputer(keep_empty_features=True)
    return LowRankImputer(passthrough_columns=others or None, keep_empty_features=True)


def record_of(like: Study | Mapping[str, Any]) -> Mapping[str, Any]:
    """That of a study, or of a model that was fitted to one."""
    if isinstance(like, Study):
        return like.record
    if not isinstance(like, Mapping) or "features" not in like:
        raise TypeError(
            f"like={type(like).__name__}: a Study is required, or the record of a model that was saved with "
            "about=study.record, superfactor.saving.read(path).about"
        )
    return like
