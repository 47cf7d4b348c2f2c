"""What `superfactor fit` gets right on microarrays, beside tuned classifiers on the same halves.

Each table is split in halves five times (seeds 0 to 4, as `--test-size 0.5 --seed K` does). superfactor runs
as its command line does by default; the others are tuned by 5-fold cross-validation on the learning half,
standardised like it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from reproduction.coordinates import short_rows
from reproduction.data import VARIABLE, load_microarray
from superfactor.cli.commands.learning import learn, split
from superfactor.cli.options import Settings
from superfactor.cli.output.screen import Screen
from superfactor.tables import Study, read_study

ROLES = {"target": "type", "id": "samples"}
C = [0.001, 0.01, 0.1, 1, 10, 100]


def accuracy(quick: bool = False) -> list[dict[str, Any]]:
    """Mean accuracy in per cent over the five repeats, each table as it is and in logarithms."""
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for name, path in _tables(Path(os.environ.get(VARIABLE, ".")), Path(scratch)):
            raw = read_study(path, **ROLES)
            for log2 in (False, True) if raw.X.max() > 100 else (False,):
                samples = read_study(path, **ROLES, log2=True) if log2 else raw
                found: dict[str, list[float]] = {}
                for seed in range(1 if quick else 5):
                    for method, score in _compare(samples, seed).items():
                        found.setdefault(method, []).append(100 * score)
                means = {method: float(np.mean(scores)) for method, scores in found.items()}
                rows.append({"table": name + (", log2" if log2 else ""), **means})
    means = {key: float(np.mean([row[key] for row in rows])) for key in rows[0] if key != "table"}
    return [*rows, {"table": "mean", **means}]


def _tables(folder: Path, scratch: Path) -> Iterator[tuple[str, Path]]:
    """Name and file of each microarray in the folder; arrays become tables in the scratch folder."""
    files = sorted([*folder.glob("chowdary*.csv.gz"), *folder.glob("GSE*.csv.gz")])
    arrays = sorted(folder.glob("singh*.npz"))
    if not files and not arrays:
        raise SystemExit(f"no microarrays in {folder}: set {VARIABLE} to the folder that has them")
    for path in files:
        yield path.name.split("_")[0], path
    for path in arrays:
        found = load_microarray(path)
        table = pd.DataFrame(found.X, columns=found.features)
        table.insert(0, "type", found.y)
        table.insert(0, "samples", [f"s{i}" for i in range(len(table))])
        name = path.name.split("_")[0]
        table.to_parquet(scratch / f"{name}.parquet")
        yield name, scratch / f"{name}.parquet"


def _compare(samples: Study, seed: int) -> dict[str, float]:
    settings = Settings(test_size=0.5, repeats=0, seed=seed)
    learned = learn(samples, settings, Screen(quiet=True))
    scores = {"superfactor": learned.scores["held_out"]["accuracy"]}
    train, test = split(samples, settings)
    y = samples.y
    scaler = StandardScaler().fit(samples.X[train])
    Z = scaler.transform(samples.X)
    rows = short_rows(Z)  # the same inner products in few columns; naive Bayes needs the genes
    for method, (model, grid) in _classifiers().items():
        X = Z if method == "naive Bayes" else rows
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        tuned = GridSearchCV(model, grid, cv=folds).fit(X[train], y[train])
        scores[method] = float(tuned.score(X[test], y[test]))
    return scores


def _classifiers() -> dict[str, tuple[Any, dict[str, Any]]]:
    pca = Pipeline([("pca", PCA()), ("lr", LogisticRegression(max_iter=5000))])
    kernel = {"C": C, "gamma": ["scale"]}
    return {
        "PCA+LR": (pca, {"pca__n_components": [2, 4, 8, 16], "lr__C": C}),
        "LDA": (
            LinearDiscriminantAnalysis(solver="lsqr"),
            {"shrinkage": ["auto", 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99]},
        ),
        "linear SVM": (SVC(kernel="linear"), {"C": [c * 1e-3 for c in C]}),
        "RBF SVM": (SVC(), kernel),
        "naive Bayes": (GaussianNB(), {"var_smoothing": [1e-9, 1e-6, 1e-3, 1e-2, 1e-1]}),
    }
