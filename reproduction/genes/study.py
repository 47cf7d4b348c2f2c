"""One microarray: groups of genes with the labels and without, the markers in them, what they classify."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from reproduction.data import find_microarrays, load_microarray
from reproduction.experiment import Setting
from reproduction.genes import markers
from superfactor import SMFClassifierCV
from superfactor.datasets import Microarray
from superfactor.interpretation import FactorView, factor_view, unsupervised

__all__ = ["KINDS", "N_TOP", "STUDIES", "Groups", "Study", "choose", "examine"]

KINDS = ("supervised", "unsupervised")
N_TOP = 5  # genes at each end, as in the paper
FOLDS = 5
SCORING = "neg_log_loss"


@dataclass(frozen=True)
class Study:
    """What the paper looks at."""

    tissue: str
    name: str
    rank: int


STUDIES = (Study("pancreatic", "Pancreatic_GSE16515", 2), Study("breast", "Breast_GSE70947", 16))


@dataclass(frozen=True)
class Groups:
    """What came out of one study.

    Attributes
    ----------
    data : the microarray that was used
    target : class that the log-odds are of
    known : genes on the list of markers
    papers : whether that is the paper's list, not the user's
    notes : gene by feature, for the features that are markers
    model : the fitted `SMFClassifierCV`
    views : the groups by kind
    hits : markers among the top genes, by kind
    accuracy : on the other half, by kind (splits,)
    """

    study: Study
    data: Microarray
    target: str
    known: set[str]
    papers: bool
    notes: dict[str, str]
    model: SMFClassifierCV
    views: dict[str, FactorView]
    hits: dict[str, markers.Hits]
    accuracy: dict[str, Any]


def choose(study: Study, setting: Setting, used: list[str]) -> Microarray:
    """The paper's data if it is at hand, else what comes nearest, on the log2 scale.

    Only where there is nothing to stand in is a download tried.
    """
    names = find_microarrays(setting.data_dir)
    if not names and setting.data_dir is not None:
        setting.note(
            f"{setting.data_dir}: no microarray; a CSV that begins with the columns samples,type or an "
            ".npz with the arrays X, y, feature_names would be one"
        )
    papers = [other.name for other in STUDIES]
    others = [name for name in names if name not in papers and name not in used]
    series = study.name.split("_")[1]
    if study.name in names or not others:
        data = load_microarray(study.name, setting.data_dir)
    elif same := [name for name in others if series in name]:
        data = load_microarray(same[0], setting.data_dir)
    else:
        loaded = [load_microarray(name, setting.data_dir) for name in others]
        data = next((each for each in loaded if study.tissue in _words(each)), loaded[0])
    if data.name != study.name:
        setting.note(f"{study.name} is not at hand: {data.name} stands in")
    return data.log2()


def _words(data: Microarray) -> str:
    return " ".join([data.name, *np.unique(data.y)]).lower()


def target_of(data: Microarray, tissue: str) -> str:
    """The class whose log-odds are shown: the one that names the tissue, else not the normal one."""
    classes = [str(name) for name in np.unique(data.y)]
    return max(classes, key=lambda c: (tissue in c.lower(), "normal" not in c.lower(), c))


def examine(
    study: Study, data: Microarray, setting: Setting, splits: int, advance: Callable[[], None]
) -> Groups:
    """Groups of both kinds, their markers, and how well they classify; a step at each fit of the first."""
    import pandas as pd

    target = target_of(data, study.tissue)
    y = (data.y == target).astype(int)
    _check_classes(data, y, target)
    rank = possible_rank(study.rank, data.X, y)
    if rank < study.rank:
        setting.note(f"{data.name}: rank {rank}, as {len(y)} samples allow no {study.rank}")
    table = pd.DataFrame(data.X, columns=data.features)
    model = _supervised(rank, setting.seed).fit(table, y)
    # The paper shows the factors of the fit, with the class of interest up.
    supervised = factor_view(model, rotation="variance", positive=1)
    plain = unsupervised(model, table, y, rotation="variance", positive=1)
    views = dict(zip(KINDS, (supervised, plain), strict=True))
    advance()
    given = setting.options.get("markers")
    listed = markers.known_markers(study.tissue, given)
    notes = markers.in_data(listed, data.features)
    hits = {kind: markers.top_hits(views[kind], notes, N_TOP) for kind in KINDS}
    accuracy: dict[str, list[float]] = {kind: [] for kind in KINDS}
    halves = StratifiedShuffleSplit(splits, test_size=0.5, random_state=setting.seed)
    for train, test in halves.split(data.X, y):
        for kind, make in zip(KINDS, (_supervised, _unsupervised), strict=True):
            fitted = make(rank, setting.seed).fit(data.X[train], y[train])
            accuracy[kind].append(float(np.mean(fitted.predict(data.X[test]) == y[test])))
        advance()
    scores = {kind: np.array(values) for kind, values in accuracy.items()}
    known = set(listed.values())
    return Groups(study, data, target, known, given is None, notes, model, views, hits, scores)


def _check_classes(data: Microarray, y: Any, target: str) -> None:
    """Every fold of half the samples needs one of each class."""
    inside, least = int(np.sum(y)), 2 * FOLDS
    if min(inside, len(y) - inside) < least:
        raise ValueError(
            f"{data.name}: {inside} samples of class {target!r} and {len(y) - inside} others; "
            f"{least} of either are required for {FOLDS} folds of half of them"
        )


def possible_rank(rank: int, X: Any, y: Any) -> int:
    """At most what the training part of a fold of half the samples allows, one short of full."""
    train = len(y) // 2
    return int(max(1, min(rank, train - math.ceil(train / FOLDS) - 1, X.shape[1] - 1)))


def _folds(seed: int) -> StratifiedKFold:
    return StratifiedKFold(FOLDS, shuffle=True, random_state=seed)


def _supervised(rank: int, seed: int) -> SMFClassifierCV:
    return SMFClassifierCV(rank, preprocess="standardize", cv=_folds(seed), scoring=SCORING, certify=None)


def _unsupervised(rank: int, seed: int) -> Any:
    """Plain SVD and logistic regression on its codes, in units in which one grid fits all."""
    grid = {"C": [0.001, 0.01, 0.1, 1.0, 10.0, 100.0]}
    regression = GridSearchCV(LogisticRegression(max_iter=5000), grid, cv=_folds(seed), scoring=SCORING)
    return make_pipeline(
        StandardScaler(), TruncatedSVD(rank, random_state=seed), StandardScaler(), regression
    )
