"""The paragraph for a paper says what the facts show, and nothing else."""

import re
from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.report.conftest import nested_like, table, words

import superfactor
from superfactor import SMFClassifier, SMFClassifierCV
from superfactor.preprocessing import Adjuster, LowRankImputer
from superfactor.report import methods_paragraph, write_report
from superfactor.report.facts import gather
from superfactor.report.methods import in_words
from superfactor.selection import nested_scores


def test_it_has_the_numbers_of_the_fit(two_classes):
    content = replace(
        two_classes.facts, target="status", nested=nested_like("better"), covariates=["age", "sex"]
    )
    text, best = in_words(content), two_classes.model.best_params_
    for said in (
        "We predicted status from 40 features in 60 samples (30 class 0, 30 class 1), with age and sex",
        "standardised to mean 0",
        f"with {best['n_components']} factor",
        f"ξ = {best['xi']:g}",
        f"λ = {best['lam']:g}",
        "Model, rank, ξ and λ were chosen among 16 settings by the log-likelihood in 3-fold cross-validation",
        "5-fold nested cross-validation, repeated 2 times",
        "balanced accuracy 91.0 % (95 % interval 86.0 % to 96.0 %)",
        "ROC area 0.960",
        "differences in balanced accuracy were +5.0 points (+1.0 to +9.0) against PCA",
        f"On 30 held-out samples that were not used in the fit: balanced accuracy "
        f"{100 * content.evaluation.figures['balanced_accuracy']:.1f} % (95 % interval",
        f"superfactor {superfactor.__version__}",
    ):
        assert said in text
    assert "\n" not in text and text.index("nested") < text.index("On 30 held-out")
    same = nested_like("better")
    same.differences["PCA + logistic regression"]["low"] = np.nan
    assert "+5.0 points (the same in every fold)" in in_words(replace(content, nested=same))


def test_nothing_is_claimed_without_evidence(two_classes):
    facts = two_classes.facts
    estimator = copy(facts.estimator)
    estimator.certificate_ = None
    text = in_words(replace(facts, test=None, search=None, estimator=estimator))
    assert not re.search("accuracy|optimal|ROC|held-out|chosen", text)
    proof = replace(facts.estimator.certificate_, is_global=False, relative_gap=0.02)
    for gap, said in ((0.02, "by more than 2.0 %"), (2.0, "")):
        estimator.certificate_ = replace(proof, relative_gap=gap)
        text = in_words(replace(facts, estimator=estimator))
        assert ("lower bound" in text) is bool(said) and said in text


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"n_components": 2}, ". ξ and λ were chosen among 8 settings"),
        ({"n_components": [1, 2], "xi": 0.1, "lam": 1.0}, ". Rank was chosen among 2 settings"),
        ({"n_components": 2, "xi": 0.1, "lam": 1.0}, None),
    ],
)
def test_given_parameters_are_not_called_chosen(given, said):
    X, y = table(60, 12, 2)
    text = methods_paragraph(SMFClassifierCV(**given, cv=2, certify=None).fit(X, y), X, y)
    assert said in text if said else "chosen" not in text


def with_gaps(n=60, p=20):
    X, y = table(n, p, 2)
    gone = np.arange(X.size).reshape(X.shape) % 11 == 0
    return X.mask(gone), y, gone


@pytest.mark.parametrize(
    ("imputer", "said"),
    [
        (SimpleImputer(), "the means of the features over the training samples"),
        (SimpleImputer(strategy="median"), "the medians of the features"),
        (SimpleImputer(missing_values=-1, strategy="constant"), "a constant"),
        (KNNImputer(n_neighbors=3), "the 3 nearest training samples"),
        (LowRankImputer(0), "the means of the features over the training samples"),
        (LowRankImputer(2), "a low-rank fit to the training samples (2 components)"),
    ],
)
def test_imputers_are_described(imputer, said):
    X, y, gone = with_gaps()
    X = X.fillna(-1) if getattr(imputer, "missing_values", None) == -1 else X
    facts = gather(make_pipeline(imputer, SMFClassifier(1)).fit(X[:40], y[:40]), X, y, X_test=X, y_test=y)
    text = in_words(facts)
    assert facts.filled.train.n_missing == gone.sum() and said in text
    count = f"{gone.sum()} of 1,200 values"
    assert text.count(count) == 2 and "for the table with imputed missing values" in text
    assert type(imputer).__name__ not in text


def test_passthrough_and_empty_columns_are_not_missing_values():
    X, y, gone = with_gaps(90)
    X["empty"], X["batch"] = np.nan, np.where(np.arange(90) % 3 == 0, "May", None)
    imputer = LowRankImputer(passthrough_columns=["batch"]).set_output(transform="pandas")
    model = make_pipeline(imputer, Adjuster(["batch"]), StandardScaler(), SMFClassifier(1))
    with pytest.warns(UserWarning, match="without any value"):
        model.fit(X, y)
    with pytest.warns(UserWarning, match="'batch' in 60 of 90 samples has no value"):
        facts = gather(model, X, y)
    assert (facts.filled.train.n_missing, facts.filled.train.n_values) == (gone.sum(), 1800)


def test_logarithms_come_first_and_covariates_have_the_names_of_their_columns():
    X, y = table(60, 20, 2)
    people = pd.DataFrame({"age": np.arange(60.0), "site": np.resize(["Boston", "Kyoto", "Lyon"], 60)})
    model = SMFClassifier(1).fit(X, y, covariates=people)
    changes, notes = ("Values were counted, then log2 was taken.",), ("Feature 7 is odd.",)
    text = in_words(replace(gather(model, X, y, covariates=people), changes=changes, notes=notes))
    assert "odd" not in text
    assert "with age and site as covariates" in text
    assert text.index("log2 was taken") < text.index("Features were")


def test_no_text_without_missing_values():
    X, y = table(60, 20, 2)
    text = methods_paragraph(make_pipeline(SimpleImputer(), SMFClassifier(1)).fit(X, y), X, y)
    assert "used as they were" in text and "missing" not in text and "without a label" not in text


def test_samples_without_a_label_are_counted():
    X, y = table(60, 20, 2)
    some = np.where(np.arange(60) < 20, None, y)
    text = methods_paragraph(SMFClassifier(1).fit(X, some), X, some)
    assert "We predicted the class from 20 features in 40 samples (20 class 0, 20 class 1)" in text
    assert "20 samples without a label contributed" in text


def test_intervals_seed_inner_folds_imputation_and_stable_features_are_named(tmp_path):
    X, y, _ = with_gaps()
    search = SMFClassifierCV(2, xi=0.1, lam=[0.1, 1.0], cv=3, impute="mean", certify=None).fit(X, y)
    nested = nested_scores(search, X, y, baselines=False, n_splits=4, n_repeats=1, random_state=5)
    page = write_report(tmp_path / "p.html", search, X, y, nested=nested, stable=None, nearness=False)
    text = words(page.read_text(encoding="utf-8"))
    for said in (
        "preprocessing, imputation of missing values and all choices (by 3-fold cross-validation)",
        "Folds were drawn with seed 5.",
        "Intervals of accuracy and balanced accuracy are Wilson's for the number of samples, or those of",
        "The other metrics have the latter.",
        "Stable features were searched in 50 pairs of complementary halves",
        "in at least 75 % of the halves",
    ):
        assert said in text, said
    held = methods_paragraph(search, X[:40], y[:40], X_test=X[40:], y_test=y[40:])
    assert "(intervals: Wilson's for shares of right answers, Newcombe's for the ROC area)" in held
    assert "Stable features" not in held
