"""Postings compared with scikit-learn's TfidfVectorizer and with counting in plain Python."""

import gzip
import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from reproduction.data import DataNotFound, load_job_postings
from reproduction.data.job_covariates import CATEGORIES, NAMES

FULL, SUBSET = "fake_job_postings.csv", "fake_job_postings_subset.csv"
COUNTS, COVARIATES = "fake_jobs_description_counts.npz", "fake_jobs_covariates.csv"


@pytest.fixture
def table(small):
    return pd.read_csv(small / FULL, keep_default_na=False)


def tokens(text):
    return re.findall(r"\b\w\w+\b", text.lower())


def write_counts(folder, table, vocabulary, rows):
    """The second form of the data: counts of some postings, covariates of all."""
    counts = np.array([[tokens(text).count(w) for w in vocabulary] for text in table.description])
    data, indices, indptr = [], [], [0]
    for row in counts[rows]:
        indices += np.flatnonzero(row).tolist()
        data += row[row > 0].tolist()
        indptr.append(len(data))
    np.savez(
        folder / COUNTS,
        data=np.array(data, np.uint8),
        indices=np.array(indices, np.int16),
        indptr=np.array(indptr, np.int32),
        shape=np.array([len(rows), len(vocabulary)]),
        vocabulary=np.array(vocabulary),
        job_id=table.job_id.to_numpy()[rows],
        y=table.fraudulent.to_numpy()[rows],
    )
    texts = [name.removeprefix("missing_") for name in NAMES if name.startswith("missing_")]
    rest = ["job_id", *NAMES[:3], *CATEGORIES, "fraudulent"]
    covariates = table[rest].join((table[texts] == "").astype(int).add_prefix("missing_"))
    covariates.to_csv(folder / f"{COVARIATES}.gz", index=False)


@pytest.mark.parametrize("n_words", [50, 2480], ids=["some", "all"])
@pytest.mark.parametrize("stop_words", [None, "english"], ids=["with-stop-words", "without"])
def test_weights_are_those_of_scikit_learn(n_words, stop_words, small, table):
    postings = load_job_postings(small, n_words=n_words, stop_words=stop_words)
    peer = TfidfVectorizer(vocabulary=postings.words.tolist())
    expected = peer.fit_transform(table.description)
    np.testing.assert_allclose(postings.X.toarray(), expected.toarray(), atol=1e-14)
    lengths = np.linalg.norm(postings.X.toarray(), axis=1)
    # The last posting has no description.
    np.testing.assert_allclose(lengths, [1.0] * 399 + [0.0], atol=1e-14)


def test_counts_and_most_frequent_words(small, table):
    postings = load_job_postings(small, n_words=40)
    words = postings.words.tolist()
    per_posting = [Counter(tokens(text)) for text in table.description]
    assert postings.counts.toarray().tolist() == [[c[w] for w in words] for c in per_posting]
    total = sum(per_posting, Counter())
    best = sorted(total, key=lambda word: (-total[word], word))[:40]
    assert words == sorted(best)


def test_72_covariates(small, table):
    postings = load_job_postings(small)
    assert len(postings.covariate_names) == len(set(postings.covariate_names)) == 72
    expected = []
    for _, row in table.iterrows():
        cells = [row.telecommuting, row.has_company_logo, row.has_questions]
        cells.append(row.location.split(",")[0] == "US")
        for variable, values in CATEGORIES.items():
            cells += [row[variable] == value for value in values]
        for text in ("location", "department", "salary_range", "company_profile", "requirements"):
            cells.append(row[text] == "")
        expected.append([*cells, row.benefits == ""])
    np.testing.assert_array_equal(postings.covariates, np.array(expected, dtype=float))
    np.testing.assert_array_equal(postings.y, table.fraudulent)


def test_text_is_not_read_as_missing(table, tmp_path):
    table.loc[0, ["department", "benefits"]] = ["N/A", "None"]
    table["salary_range"] = "40000"  # a column that looks like numbers
    table.to_csv(tmp_path / FULL, index=False)
    postings = load_job_postings(tmp_path)
    missing = dict(zip(postings.covariate_names, postings.covariates.T, strict=True))
    assert missing["missing_department"][0] == missing["missing_benefits"][0] == 0
    assert not missing["missing_salary_range"].any()


def test_counts_with_covariates_give_what_the_text_gives(small, table, tmp_path):
    rows = np.arange(200, 400)
    whole = load_job_postings(small)
    write_counts(tmp_path, table, whole.words.tolist(), rows)
    by_counts = load_job_postings(tmp_path, n_words=60)
    (tmp_path / "text").mkdir()
    table.iloc[rows].to_csv(tmp_path / "text" / FULL, index=False)
    by_text = load_job_postings(tmp_path / "text", n_words=60)
    assert by_counts.words.tolist() == by_text.words.tolist()
    np.testing.assert_allclose(by_counts.X.toarray(), by_text.X.toarray(), atol=1e-14)
    np.testing.assert_array_equal(by_counts.y, by_text.y)
    # All but the country, which the covariates file does not have.
    by_text.covariates[:, NAMES.index("in_united_states")] = 0
    np.testing.assert_array_equal(by_counts.covariates, by_text.covariates)
    assert "country unknown" in by_counts.source
    assert "200 postings of 17,880" in by_counts.source


def test_the_best_form_of_the_first_folder(small, table, tmp_path, monkeypatch):
    monkeypatch.setenv("SUPERFACTOR_DATA_DIR", str(small))
    assert load_job_postings(tmp_path).source.startswith(FULL)  # nothing here: the variable's
    table.head(50).to_csv(tmp_path / SUBSET, index=False)
    assert load_job_postings(tmp_path).source.startswith(SUBSET)
    write_counts(tmp_path, table, ["and", "the"], np.arange(30))
    assert load_job_postings(tmp_path).source.startswith(COUNTS)
    packed = gzip.compress((small / FULL).read_bytes())
    (tmp_path / f"{FULL}.gz").write_bytes(packed)
    assert load_job_postings(tmp_path).source.startswith(f"{FULL}.gz")


def test_no_data(tmp_path):
    with pytest.raises(DataNotFound) as error:
        load_job_postings(tmp_path)
    message = str(error.value)
    assert "\n" not in message
    for part in (FULL, "kaggle", "50,061,601", "59253295129d", "--data-dir", "SUPERFACTOR_DATA_DIR"):
        assert part in message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="description"), "column 'description' is missing"),
        (lambda t: t.drop(columns="location"), "column 'location' is missing"),
        (lambda t: t.drop(columns="fraudulent"), "column 'fraudulent' is missing"),
        (lambda t: t.assign(telecommuting="f"), "column 'telecommuting' has to be 0 or 1"),
        (lambda t: t.assign(description="a"), "column 'description' has no words"),
    ],
    ids=["no-text", "no-place", "no-label", "letters", "no-words"],
)
def test_unusable_tables(change, message, table, tmp_path):
    change(table).to_csv(tmp_path / FULL, index=False)
    with pytest.raises(ValueError, match=message):
        load_job_postings(tmp_path)
