"""Any classifier is evaluated on the folds of scikit-learn's own loop, and scores say whose they are."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from tests.selection.searches import COVARIATES, FREQUENT, PCA_LR, RIDGE
from tests.selection.test_nested import patients

from superfactor import SMFClassifier, SMFClassifierCV
from superfactor.selection import nested_scores
from superfactor.selection.procedure import difference, procedure_of

CV = StratifiedKFold(5, shuffle=True, random_state=0)
SMF = SMFClassifier(2, certify=None, search="off")


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), LogisticRegression()),
        GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, cv=3),
        CalibratedClassifierCV(SVC(), ensemble=False),
        SMF,
        make_pipeline(StandardScaler(), SMF),
        make_pipeline(StandardScaler(), SMFClassifierCV(1, xi=0.1, lam=[1.0, 10.0], cv=3)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_is_scikit_learns_loop(model):
    X, y = patients(p=6)
    found = nested_scores(model, X, y, n_repeats=1, baselines=False)
    P = cross_val_predict(model, X, y, cv=CV, method="predict_proba")
    np.testing.assert_allclose(found.predictions, P, atol=1e-12)
    assert set(found.baselines) == {FREQUENT}
    chosen = hasattr(model, "best_params_") or isinstance(model, GridSearchCV)
    assert all(bool(choice) == chosen for choice in found.chosen)


def test_baselines_are_those_of_the_default_search():
    X, y = patients(p=10)
    ours = nested_scores(SMFClassifierCV(1, xi=0.1, lam=1.0), X, y, n_repeats=1)
    theirs = nested_scores(LogisticRegression(), X, y, n_repeats=1)
    for baseline in (PCA_LR, RIDGE):
        np.testing.assert_array_equal(ours.folds[baseline]["log_loss"], theirs.folds[baseline]["log_loss"])
    assert set(theirs.baselines) == {PCA_LR, RIDGE, FREQUENT}


def test_a_fitted_one_is_evaluated_as_if_it_were_not():
    X, y = patients(p=6)
    model = LogisticRegression().fit(X[:, ::-1], y)
    before = model.coef_.copy()
    ours = nested_scores(model, X, y, n_repeats=1, baselines=False)
    again = nested_scores(clone(model), X, y, n_repeats=1, baselines=False)
    np.testing.assert_array_equal(ours.predictions, again.predictions)
    np.testing.assert_array_equal(model.coef_, before)
    search = SMFClassifierCV(1, xi=0.1, lam=[1.0, 10.0], cv=3)
    again = nested_scores(search, X, y, n_repeats=1, baselines=False)
    ours = nested_scores(search.fit(X, y), X, y, n_repeats=1, baselines=False)
    np.testing.assert_array_equal(ours.predictions, again.predictions)
    assert ours.procedure == again.procedure


class TestSettings:
    """A search is evaluated with its own."""

    def test_scaling(self):
        X, y = patients(p=6)
        X[:, 5] *= 1e4  # noise that drowns the rest
        found = {
            preprocess: nested_scores(
                SMFClassifierCV(1, xi=0.1, lam=1.0, preprocess=preprocess),
                *(X, y),
                n_repeats=1,
                baselines=False,
            ).summary["accuracy"]["mean"]
            for preprocess in (None, "standardize")
        }
        assert found["standardize"] > found[None] + 0.1

    def test_scoring(self):
        X, y = patients(p=6)

        def weakest(model, X, y):
            return -model.lam

        search = SMFClassifierCV(1, xi=0.1, lam=[10.0, 1.0, 0.1], scoring=weakest)
        found = nested_scores(search, X, y, n_repeats=1, baselines=False)
        assert {choice["lam"] for choice in found.chosen} == {0.1}

    def test_ranks_and_prediction(self):
        X, y = patients(p=6)
        search = SMFClassifierCV([3], model="feature", xi=0.01, lam=0.1, scoring="accuracy")
        exact, fast = (
            nested_scores(clone(search).set_params(prediction=how), X, y, n_repeats=1, baselines=False)
            for how in ("exact", "fast")
        )
        assert {choice["n_components"] for choice in exact.chosen} == {3}
        assert not np.allclose(exact.predictions, fast.predictions, atol=1e-3)


class TestMore:
    def test_permutations(self):
        X, y = patients(p=4)
        found = nested_scores(LogisticRegression(), X, y, n_repeats=1, baselines=False, permutations=9)
        assert found.permutation.p_value == 1 / 10
        assert found.permutation.scores.max() < found.permutation.score

    def test_groups_reach_a_search(self):
        X, y = patients(n=60, p=4)
        groups = np.repeat(np.arange(20), 3)
        y = np.where(groups % 2 == 0, "ill", "well")
        search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=GroupKFold(3))
        found = nested_scores(search, X, y, groups=groups, n_repeats=1, baselines=False)
        assert len(found.chosen) == 5
        # A search whose folds know no groups ignores them, without a word for every fold.
        search.set_params(cv=2)
        nested_scores(search, X, y, groups=groups, n_repeats=1, baselines=False)

    def test_covariates(self):
        X, y = patients(n=40, p=6, effect=0.0)
        age = (y == "ill") + 0.2 * np.random.default_rng(0).normal(size=len(y))
        table = pd.DataFrame({"age": age})
        for model in (SMF, make_pipeline(StandardScaler(), SMF)):
            found = nested_scores(model, X, y, covariates=table, n_repeats=1)
            assert found.summary["accuracy"]["mean"] > 0.9
            assert found.baselines[COVARIATES]["accuracy"]["mean"] > 0.9
            assert "improve on age alone" in " ".join(found.verdict.sentences)

    def test_samples_without_a_label(self):
        X, y = patients(n=40, p=6)
        y = y.astype(object)
        y[:8] = None
        kept = nested_scores(LogisticRegression(), X[8:], y[8:], n_repeats=1, baselines=False)
        found = nested_scores(LogisticRegression(), X, y, n_repeats=1, baselines=False)
        np.testing.assert_array_equal(found.predictions, kept.predictions)
        ours = nested_scores(SMF, X, y, n_repeats=1, baselines=False)
        without = nested_scores(SMF, X[8:], y[8:], n_repeats=1, baselines=False)
        assert np.abs(ours.predictions - without.predictions).max() > 1e-6

    def test_texts(self):
        rng = np.random.default_rng(0)
        y = np.arange(30) % 2
        texts = [" ".join(rng.choice(["red", "blue", "x"], 9, p=[0.6 - a, a, 0.4])) for a in y / 2]
        model = make_pipeline(CountVectorizer(), MultinomialNB())
        found = nested_scores(model, texts, y, n_repeats=1, baselines=False)
        assert found.summary["accuracy"]["mean"] > 0.8
        with pytest.raises(ValueError, match="baselines=False"):
            nested_scores(model, texts, y, n_repeats=1)


@pytest.mark.parametrize(
    ("search", "message"),
    [
        (np.ones((40, 6)), r"search=ndarray: the model to evaluate comes first, as in nested_scores\(SM"),
        (SMFClassifierCV, "search=SMFClassifierCV: the model to evaluate comes first"),
        (SVC(), "search=SVC: it has no predict_proba"),
        (StandardScaler(), "model=StandardScaler: an estimator of superfactor is required"),
    ],
)
def test_what_cannot_be_evaluated(search, message):
    X, y = patients(p=6)
    with pytest.raises(TypeError, match=message) as error:
        nested_scores(search, X, y)
    assert "\n" not in str(error.value)
    with pytest.raises(TypeError, match="y=None: labels are required"):
        nested_scores(SMFClassifierCV(), X)
    with pytest.raises(TypeError, match=r"covariates: LogisticRegression.fit takes none"):
        nested_scores(LogisticRegression(), X, y, covariates=np.ones(40))


class TestProcedure:
    def test_is_plain(self):
        search = SMFClassifierCV(
            np.array([2, 3]),
            preprocess=make_pipeline(StandardScaler(with_mean=False)),
            class_weight={"a": np.float64(2.0)},
            unlabeled=float("nan"),
            covariate_columns=slice(1, 3),
            scoring=test_is_scikit_learns_loop,
        )
        found = procedure_of(search)
        assert json.loads(json.dumps(found)) == found
        assert found == procedure_of(clone(search))
        own = found["parameters"]
        assert own["n_components"] == [2, 3]
        assert own["scoring"].endswith("test_is_scikit_learns_loop")
        assert own["preprocess"]["class"] == "Pipeline"
        [[name, step]] = own["preprocess"]["parameters"]["steps"]
        assert (name, step["class"]) == ("standardscaler", "StandardScaler")
        assert step["parameters"]["with_mean"] is False

    @pytest.mark.parametrize(
        "same", [{"n_jobs": 2}, {"verbose": 1}, {"certify": None}, {"cv": 3}, {"random_state": 7}]
    )
    def test_how_it_is_computed_is_no_part(self, same):
        assert procedure_of(SMFClassifierCV(**same)) == procedure_of(SMFClassifierCV())

    @pytest.mark.parametrize(
        ("other", "said"),
        [
            (SMFClassifierCV(3), "SMFClassifierCV with n_components=3 and not 'auto'"),
            (SMFClassifier(), "SMFClassifier and not SMFClassifierCV"),
            (
                SMFClassifierCV(preprocess=StandardScaler(), rule="one_standard_error"),
                "preprocess=StandardScaler(…) and not ",
            ),
        ],
    )
    def test_what_it_learns_is(self, other, said):
        assert said in difference(procedure_of(other), procedure_of(SMFClassifierCV()))
        assert difference(procedure_of(other), procedure_of(clone(other))) == ""

    def test_parameters_of_steps_count(self):
        one, two = (Pipeline([("lr", LogisticRegression(C=C))]) for C in (1.0, 2.0))
        assert procedure_of(one) != procedure_of(two)
