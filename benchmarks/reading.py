"""What features are shown, and whether the other half of the samples says the same.

Every table is split ten times into two halves with the classes in proportion. Each method sees one half,
standardised by itself, and shows 20 features (`benchmarks.readers`). Asked is

returned     how many of them it shows again from the other half
differs      how many differ between the classes in the other half: q ≤ .05 by Benjamini and Hochberg, of
             Welch's t-test, or of an analysis of variance with several classes
right end    how many stand at the end of the class that has more of them in the other half
against      how many stand at an end that they correlate against: the sign shown is not that of the
             correlation with the direction's own score, in the half that was seen

SUPERFACTOR_DATA_DIR says where the tables are. Intensities are taken as log2(max(x, 1)), word counts as
TF-IDF with rows of length 1 (else the words of long texts go with each other before all), the rest as it is;
classes with fewer than four samples are left out.
"""

from __future__ import annotations

import gzip
import os
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import false_discovery_control
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.choose import Table
from benchmarks.readers import REST, Shown, shown_by_all, tested
from reproduction.data import VARIABLE, load_microarray

N_SHOWN = 20
N_SPLITS = 10
LEVEL = 0.05
FEWEST = 4
MEASURES = ("returned", "differs", "right end", "against")
# By the beginning of the file's name: what the table is called, and whether its values are logarithms
# already, or have been centred sample by sample, so that there is nothing to take a logarithm of.
ARRAYS = {
    "singh": ("prostate", False),
    "chowdary": ("breast/colon", False),
    "alon": ("colon", False),
    "pomeroy": ("brain tumours, outcome", True),
    "GSE16515": ("pancreas", True),
    "khan": ("small round cell tumours", True),
    "nci60": ("NCI-60 cell lines", True),
}


def reading(quick: bool = False) -> list[dict[str, Any]]:
    """A row for each table and method, and for each method the means over the tables."""
    rows = []
    for table in tables():
        if quick and table.X.shape[0] > 100:
            continue
        found: dict[str, list[Any]] = {}
        for seed in range(2 if quick else N_SPLITS):
            for method, measures in compared(table.X, table.y, seed):
                found.setdefault(method, []).append(measures)
        for method, each in found.items():
            means = dict(zip(MEASURES, np.mean(each, axis=0).tolist(), strict=True))
            of = {"case": table.title, "classes": int(table.y.max()) + 1, "method": method}
            rows.append(of | means)
        print(table.title, file=sys.stderr, flush=True)  # some minutes: says where it is
    return rows


def means(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each method: the means over the tables."""
    methods = dict.fromkeys(row["method"] for row in rows)
    return [
        {"method": method}
        | {key: float(np.mean([row[key] for row in rows if row["method"] == method])) for key in MEASURES}
        for method in methods
    ]


def with_means(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows, and below them the means."""
    return [*rows, *({"case": "mean over the tables"} | row for row in means(rows))]


def compared(X: Any, y: Any, seed: int) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Method and measures, for each method and each half that is seen first."""
    seen = []
    for half in halves(y, seed):
        with threadpool_limits(1):
            Z = StandardScaler().fit_transform(X[half])
            seen.append((Z, y[half], shown_by_all(Z, y[half])))
    for (_, _, first), (Z, labels, second) in pairwise([*seen, seen[0]]):
        q = false_discovery_control(tested(Z, labels)[1])
        for method, shown in first.items():
            yield method, measured(shown, second[method], Z, labels, q)


def halves(y: Any, seed: int) -> tuple[Any, Any]:
    """Positions of two halves; of odd classes the one more goes to each half in turn."""
    rng, parts, turn = np.random.default_rng(seed), ([], []), 0
    for number in np.unique(y):
        own = rng.permutation(np.flatnonzero(y == number))
        cut = len(own) // 2 + (turn if len(own) % 2 else 0)
        turn = 1 - turn if len(own) % 2 else turn
        parts[0].append(own[:cut])
        parts[1].append(own[cut:])
    first, second = (np.sort(np.concatenate(part)) for part in parts)
    return first, second


def measured(shown: Shown, again: Shown, Z: Any, y: Any, q: Any, n: int = N_SHOWN) -> tuple[float, ...]:
    """The MEASURES of what one half shows, by `again` and the samples Z (n, p), y of the other half."""
    features, directions, signs = shown.top(n)
    returned = np.isin(features, again.top(n)[0])
    means_of = np.array([Z[y == c].mean(axis=0) for c in range(int(y.max()) + 1)])
    high, low = shown.ends[directions].T
    rest = [Z[y != c][:, j].mean() for c, j in zip(high, features, strict=True)]
    lower = np.where(low == REST, rest, means_of[low, features])
    right = np.sign(means_of[high, features] - lower) == signs
    against = np.sign(shown.correlations[directions, features]) == -signs
    return tuple(float(np.mean(each)) for each in (returned, q[features] <= LEVEL, right, against))


def tables() -> Iterator[Table]:
    """All of the folder that are known, what takes long last."""
    folder = Path(os.environ.get(VARIABLE, "."))
    found = 0
    for beginning, (name, logged) in ARRAYS.items():
        for path in sorted(folder.glob(f"{beginning}*")):
            found += 1
            yield _table(name, *_array(path, logged))
    for read in (_relathe, _postings, _digits):
        for table in read(folder):
            found += 1
            yield table
    if not found:
        raise SystemExit(f"no tables in {folder}: set {VARIABLE} to the folder that has them")


def _array(path: Path, logged: bool) -> tuple[Any, Any]:
    """Khan's and the cell lines have no names of features, and are read as they are."""
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            if "feature_names" not in arrays:
                return arrays["X"].astype(float), arrays["y"]
    found = load_microarray(path)
    found = found if logged else found.log2()
    return found.X, found.y


def _relathe(folder: Path) -> Iterator[Table]:
    for path in folder.glob("relathe*.npz"):
        with np.load(path) as arrays:
            yield _table("religion/atheism, words", _tf_idf(arrays["X"]), arrays["y"])


def _postings(folder: Path) -> Iterator[Table]:
    for path in folder.glob("fake_jobs_description_counts.npz"):
        with np.load(path) as arrays:
            parts = (arrays["data"], arrays["indices"], arrays["indptr"])
            counts = csr_array(parts, shape=tuple(arrays["shape"]))
            yield _table("job postings, words", _tf_idf(counts), arrays["y"])


def _tf_idf(counts: Any) -> Any:
    return TfidfTransformer().fit_transform(counts.astype(float)).toarray()


def _digits(folder: Path) -> Iterator[Table]:
    for path in folder.glob("mnist_5k.csv.gz"):
        with gzip.open(path, "rt") as lines:
            values = np.loadtxt(lines, delimiter=",")
        yield _table("MNIST", values[:, :-1], values[:, -1])


def _table(name: str, X: Any, y: Any) -> Table:
    """Without the classes that two halves have too few samples for."""
    _, numbers, counts = np.unique(y, return_inverse=True, return_counts=True)
    kept = counts[numbers] >= FEWEST
    return Table(name, X[kept], np.unique(y[kept], return_inverse=True)[1])
