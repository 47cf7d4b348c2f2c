"""Tables with gaps and samples without labels: the page says what was done with them."""

import html

import numpy as np
import pytest
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.report.conftest import table
from tests.report.test_facts import facts_of

from superfactor import SMFClassifier
from superfactor.preprocessing import Adjuster, LowRankImputer
from superfactor.report import write_report
from superfactor.report.certificate import OF_COMPLETED
from superfactor.report.sections import paper
from superfactor.selection import SMFClassifierCV


def with_gaps(n=90, p=20, every=11):
    X, y = table(n, p, 2)
    X += np.outer(np.sin(np.arange(n)), 3 * np.cos(np.arange(p)))
    gone = np.arange(X.size).reshape(X.shape) % every == 0
    return X.mask(gone), y, gone


def panels(path):
    """The text of the page by tab."""
    parts = path.read_text(encoding="utf-8").split('<section class="panel" id="')[1:]
    return {part.split('"')[0]: html.unescape(part) for part in parts}


def paragraph(facts):
    return paper(facts).told["paragraph"]


@pytest.mark.filterwarnings("ignore:X. .* of the values are missing")
def test_a_search_on_a_table_with_gaps_says_so_where_it_matters(tmp_path):
    X, y, gone = with_gaps()
    search = SMFClassifierCV([1], cv=3, preprocess="standardize").fit(X[:60], y[:60])
    path = write_report(tmp_path / "page.html", search, X[:60], y[:60], X_test=X[60:], y_test=y[60:])
    found = panels(path)
    missing, new = f"{gone[:60].sum()} of 1,200 values", f"{gone[60:].sum()} of 600 values"
    rank = search.best_estimator_[0].n_components_
    assert rank > 0
    for name in ("result", "paper"):
        assert missing in found[name] and new in found[name]
        assert f"filled in by a low-rank fit to the training samples ({rank} component" in found[name]
    for name in ("result", "convergence"):
        assert found[name].count(OF_COMPLETED) == 1
    assert "for the table with its gaps filled in" in found["paper"]
    assert "LowRankImputer" not in found["paper"]  # said in words


@pytest.mark.parametrize(
    ("imputer", "words"),
    [
        (SimpleImputer(), "the means of the features over the training samples"),
        (SimpleImputer(strategy="median"), "the medians of the features"),
        (SimpleImputer(missing_values=-1, strategy="constant"), "a constant"),
        (KNNImputer(n_neighbors=3), "the 3 nearest training samples"),
    ],
)
def test_other_imputers_are_called_by_what_they_do(imputer, words):
    X, y, gone = with_gaps()
    X = X.fillna(-1) if getattr(imputer, "missing_values", None) == -1 else X
    facts = facts_of(make_pipeline(imputer, SMFClassifier(1)).fit(X, y), X, y)
    assert facts.filled.train.n_missing == gone.sum() and words in paragraph(facts)


def test_columns_that_pass_and_empty_ones_do_not_count():
    X, y, gone = with_gaps()
    X["empty"], X["batch"] = np.nan, np.where(np.arange(90) % 3 == 0, "May", None)
    imputer = LowRankImputer(passthrough_columns=["batch"]).set_output(transform="pandas")
    model = make_pipeline(imputer, Adjuster(["batch"]), StandardScaler(), SMFClassifier(1))
    with pytest.warns(UserWarning, match="without any value"):
        model.fit(X, y)
    facts = facts_of(model, X, y)
    assert (facts.filled.train.n_missing, facts.filled.train.n_values) == (gone.sum(), 1800)


def test_an_imputer_without_gaps_says_nothing():
    X, y = table(60, 20, 2)
    facts = facts_of(make_pipeline(SimpleImputer(), SMFClassifier(1)).fit(X, y), X, y)
    assert facts.filled is None
    assert "used as they were" in paragraph(facts) and "missing" not in paragraph(facts)


def test_a_low_rank_fit_of_noise_is_its_means():
    X, y = table(60, 20, 2)
    X.iloc[::3, ::4] = np.nan
    facts = facts_of(make_pipeline(LowRankImputer(0), SMFClassifier(1)).fit(X, y), X, y)
    assert facts.filled.how == "the means of the features over the training samples"


def test_samples_without_a_label_are_counted_in_the_paper():
    X, y = table(60, 20, 2)
    some = np.where(np.arange(60) < 20, None, y)
    text = paragraph(facts_of(SMFClassifier(1).fit(X, some), X, some))
    assert "in 40 samples (20 class 0, 20 class 1)" in text
    assert "20 samples without a label took part" in text


class TestHeldOutSamplesWithoutALabel:
    @pytest.mark.parametrize("mark", [None, np.nan, "?"])
    def test_are_left_out_of_the_figures_and_counted(self, mark, tmp_path):
        X, y = table(90, 20, 2)
        model = SMFClassifier(1, unlabeled="?").fit(X[:60], y[:60])
        y_test = y[60:].astype(object)
        y_test[::5] = mark
        there = np.arange(30) % 5 > 0
        facts = facts_of(model, X[:60], y[:60], X[60:], y_test)
        assert facts.evaluation.accuracy == model.score(X[60:][there], y[60:][there])
        assert facts.test.ids == list(X.index[60:][there]) and facts.n_test_unlabeled == 6
        page = write_report(tmp_path / "page.html", model, X[:60], y[:60], X_test=X[60:], y_test=y_test)
        assert "24 held out (6 more without a label, which judge nothing)" in page.read_text()

    def test_some_label_is_required(self):
        X, y = table(60, 20, 2)
        model = SMFClassifier(1).fit(X, y)
        with pytest.raises(ValueError, match=r"^y: none of the 60 samples has a label; some are"):
            facts_of(model, X, [None] * 60)
        with pytest.raises(ValueError, match="y_test: none of the 60 samples has a label"):
            facts_of(model, X, y, X, np.full(60, np.nan))


def test_two_adjusters_remove_more_than_the_first():
    X, y = table(120, 20, 2)
    batch, site = np.arange(120) // 2 % 2, np.arange(120) // 4 % 2
    X += 5.0 * site[:, None]
    before = np.var(X, axis=0).sum()
    X["batch"], X["site"] = batch, site
    model = make_pipeline(Adjuster([20]), Adjuster([20]), SMFClassifier(1)).fit(X.to_numpy(), y)
    facts = facts_of(model, X.to_numpy(), y)
    left = np.var(model[:2].transform(X.to_numpy()), axis=0).sum()
    assert facts.confounders.removed == pytest.approx(1 - left / before)
    assert facts.confounders.removed > 0.8
