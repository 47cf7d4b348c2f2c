"""Real and fake job postings (Kaggle: Real / Fake Job Posting Prediction; first published as EMSCAD).

Three forms of the data are read, the best that a folder has:

1. ``fake_job_postings.csv``, all 17,880 postings;
2. ``fake_jobs_description_counts.npz`` with ``fake_jobs_covariates.csv``: word counts of some of the
   postings, and the covariates, which lack the country;
3. ``fake_job_postings_subset.csv``: some of the postings in full, fake ones over-represented.

Each CSV may be gzipped. Kaggle requires a login, so nothing is downloaded.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer, TfidfTransformer

from reproduction.data import files
from reproduction.data import job_covariates as covariates_of

__all__ = ["Postings", "load_job_postings"]

_FULL, _SUBSET = "fake_job_postings.csv", "fake_job_postings_subset.csv"
_COUNTS, _COVARIATES = "fake_jobs_description_counts.npz", "fake_jobs_covariates.csv"
_KAGGLE = "https://www.kaggle.com/datasets/shivamb/real-or-fake-fake-jobposting-prediction"
_N_FULL = 17_880
_SIZE = 50_061_601
_SHA256 = "59253295129d8b6a27607f9904f7d4ddf4dbb0ee35e079c7eb51b58b5e62bf60"


@dataclass(frozen=True)
class Postings:
    """Job postings as word frequencies, with covariates and the label.

    Attributes
    ----------
    X : CSR matrix of shape (n, n_words)
        TF-IDF of the descriptions, rows of length 1 (0 where no word is left).
    y : array of shape (n,) of int
        1 = fraudulent.
    covariates : array of shape (n, 72)
        Of 0 and 1.
    words : array of shape (n_words,) of str
        In alphabetical order.
    covariate_names : tuple of str
        72 names.
    counts : CSR matrix of shape (n, n_words)
        How often each word occurs.
    source : str
        One line saying which files these are, and how they differ from the full data.
    """

    X: csr_matrix
    y: NDArray[np.int64]
    covariates: NDArray[np.float64]
    words: NDArray[np.str_]
    covariate_names: tuple[str, ...]
    counts: csr_matrix
    source: str


def load_job_postings(
    data_dir: str | Path | None = None, *, n_words: int = 2480, stop_words: str | None = None
) -> Postings:
    """TF-IDF of the descriptions on their most frequent words, with the paper's 72 covariates.

    Words are lower-case runs of at least two letters, digits or underscores. Kept are the `n_words`
    with the largest total count in the postings at hand (all, where there are fewer; ties in
    alphabetical order); weights are scikit-learn's, count · (1 + log((1 + n)/(1 + df))), and each
    row is scaled to length 1.

    Parameters
    ----------
    data_dir : str or Path, optional
        Folder with ``fake_job_postings.csv`` or one of its stand-ins (see the module). Not given or not
        there: the folder named by the environment variable SUPERFACTOR_DATA_DIR, the user's cache.
    n_words : int
        At least 1; the paper has 2,480.
    stop_words : str, optional
        None, or "english" to leave out scikit-learn's list before counting. The paper does not say that
        any were left out.

    Returns
    -------
    data : Postings
        Words, covariates and the label.
    """
    if isinstance(n_words, bool) or not isinstance(n_words, int | np.integer) or n_words < 1:
        raise ValueError(f"n_words={n_words!r}: a whole number of at least 1 is required")
    if stop_words not in (None, "english"):
        raise ValueError(f"stop_words={stop_words!r}: allowed are None and 'english'")
    counts, words, table, source = _read(data_dir)
    counts, words = _most_frequent(counts, words, int(n_words), stop_words)
    y = table["fraudulent"].to_numpy(np.int64)
    return Postings(
        X=_tf_idf(counts),
        y=y,
        covariates=covariates_of.encode(table),
        words=words,
        covariate_names=covariates_of.NAMES,
        counts=counts,
        source=f"{source}, {np.mean(y):.1%} fraudulent (4.8% in the full data)",
    )


# --- the three forms ------------------------------------------------------------------------------


def _read(data_dir: str | Path | None) -> tuple[Any, Any, pd.DataFrame, str]:
    """Counts of all words, the words, the other columns, and the source."""
    for folder in files.folders(data_dir):
        if full := _here(folder, _FULL):
            return _from_text(full)
        if (folder / _COUNTS).is_file() and (covariates := _here(folder, _COVARIATES)):
            return _from_counts(folder / _COUNTS, covariates)
        if subset := _here(folder, _SUBSET):
            return _from_text(subset)
    raise files.DataNotFound(
        f"{_FULL} ({_SIZE:,} bytes, sha256 {_SHA256}) is missing, and its download requires a login: "
        f"{files.get_it(_FULL, _KAGGLE)}"
    )


def _here(folder: Path, name: str) -> Path | None:
    return next((p for p in (folder / name, folder / f"{name}.gz") if p.is_file()), None)


def _from_text(path: Path) -> tuple[Any, Any, pd.DataFrame, str]:
    data = files.contents(path)
    table = _table(path, data, ("description", *covariates_of.TEXTS))
    vectorizer = CountVectorizer(dtype=np.float64)
    try:
        counts = vectorizer.fit_transform(table["description"])
    except ValueError:  # scikit-learn's way of saying that there are no words
        raise ValueError(f"{path}: column 'description' has no words; texts are required") from None
    return counts, vectorizer.get_feature_names_out(), table, f"{path.name}: {_description(table, data)}"


def _description(table: pd.DataFrame, data: bytes) -> str:
    """How the postings of a table differ from the full data."""
    text = f"{len(table):,} postings"
    if len(table) != _N_FULL:
        return f"{text} of {_N_FULL:,}"
    same = files.checksum(data, "sha256") == _SHA256
    return text if same else f"{text} (another copy than the recorded one: {len(data):,} bytes)"


def _from_counts(path: Path, covariates: Path) -> tuple[Any, Any, pd.DataFrame, str]:
    try:
        with np.load(path, allow_pickle=False) as z:
            parts = (z["data"].astype(np.float64), z["indices"].astype(np.int32), z["indptr"])
            counts = csr_matrix(parts, shape=tuple(z["shape"]))
            words, ids = z["vocabulary"], z["job_id"]
    except (KeyError, OSError, ValueError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path}: no word counts ({error}); copy the file again") from None
    missing = [name for name in covariates_of.NAMES if name.startswith("missing_")]
    table = _table(covariates, files.contents(covariates), ("job_id", *missing)).set_index("job_id")
    absent = np.setdiff1d(ids, table.index)
    if len(absent):
        raise ValueError(f"{covariates}: no posting with job_id {absent[0]}, which {path.name} has")
    source = (
        f"{path.name} with {covariates.name}: {len(ids):,} postings of {_N_FULL:,}, words among the "
        f"{len(words):,} most frequent of all postings, country unknown (its column is 0)"
    )
    return counts, words, table.loc[ids], source


def _table(path: Path, data: bytes, needed: tuple[str, ...]) -> pd.DataFrame:
    """The table, cells empty where missing: "None" and "N/A" are things people write in postings."""
    text = ("description", *covariates_of.TEXTS, *covariates_of.CATEGORIES)
    try:
        table = pd.read_csv(io.BytesIO(data), keep_default_na=False, dtype=dict.fromkeys(text, str))
    except ValueError as error:  # pandas' own errors are ValueErrors, and so is bad UTF-8
        raise ValueError(f"{path}: no CSV ({' '.join(str(error).split())})") from None
    binary = ("fraudulent", *covariates_of.BINARY)
    for name in (*binary, *covariates_of.CATEGORIES, *needed):
        if name not in table.columns:
            raise ValueError(
                f"{path}: column {name!r} is missing; the columns of fake_job_postings.csv are required"
            )
        if name in binary and not table[name].isin((0, 1)).all():
            raise ValueError(f"{path}: column {name!r} has to be 0 or 1")
    return table


# --- words ----------------------------------------------------------------------------------------


def _most_frequent(counts: Any, words: Any, n_words: int, stop_words: str | None) -> tuple[Any, Any]:
    """The columns of the most frequent words, and these words, in alphabetical order."""
    total = np.asarray(counts.sum(axis=0)).ravel()
    allowed = [j for j in np.lexsort((words, -total)) if total[j] > 0]
    if stop_words is not None:
        allowed = [j for j in allowed if words[j] not in ENGLISH_STOP_WORDS]
    chosen = np.array(sorted(allowed[:n_words], key=lambda j: str(words[j])), dtype=np.intp)
    return counts[:, chosen].tocsr(), np.asarray(words[chosen], dtype=np.str_)


def _tf_idf(counts: Any) -> Any:
    return TfidfTransformer().fit_transform(counts).tocsr()
