"""The tabs: numbers of the tables and figures, and what is said about them."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist
from scipy.stats import chi2
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from tests.report.conftest import Case, nested_like, number, panel, payload, scaled, table, words

from superfactor import SMFClassifier
from superfactor.interpretation import (
    block_shares,
    confounding,
    factor_view,
    feature_effects,
    nearness,
    stable_features,
)
from superfactor.interpretation.refits import progress
from superfactor.outcomes import Times
from superfactor.plotting import HeatmapDisplay
from superfactor.report import write_report
from superfactor.report.certificate import OF_COMPLETED
from superfactor.report.facts import feature_results, gather
from superfactor.report.facts.search import searched
from superfactor.report.formats import share
from superfactor.report.page import render
from superfactor.report.sections import choice, factors, features, result, samples
from superfactor.report.sections.heat_map import heat_map
from superfactor.report.sections.samples import ellipse, ranges, thinned


class TestBlocksAndConfounders:
    def test_numbers_are_those_of_the_tables(self, pages, blocks_and_batches):
        case, page = blocks_and_batches, pages["blocks_and_batches"].read_text(encoding="utf-8")
        shares, tab = block_shares(case.model, case.X), panel(page, "blocks")
        together, single = shares[shares["factor"] == "all"], shares[shares["factor"] != "all"]
        predictive = single[single["share_of_prediction"] != 0]
        for value in [
            *together[["variance_explained", "share_of_prediction", "prediction_alone"]].to_numpy().ravel(),
            *single[["share_of_factor", "variance_explained"]].to_numpy().ravel(),
            *predictive["share_of_prediction"],
        ]:
            assert f">{share(value)}<" in tab
        tab = panel(page, "confounders")
        for X in (case.X, case.X_test):
            for value in confounding(case.model, X)[["before", "after", "chance"]].to_numpy().ravel():
                assert f">{share(value)}<" in tab
        assert share(case.model["adjuster"].explained_) in tab
        assert "after adjustment is 0 by construction" in tab
        paper = panel(page, "paper")
        assert "adjusted for confounders by linear regression" in paper and "weighted by block" in paper

    def test_a_part_kept_on_purpose_is_reported(self, blocks_and_batches):
        case = blocks_and_batches
        spared = clone(case.model).set_params(adjuster__spare_y=True).fit(case.X, case.y)
        tab = panel(render(gather(spared, case.X, case.y, features=True)), "confounders")
        assert "after adjustment is 0 by construction" not in tab and "was not subtracted" in tab
        assert "Held-out, before" not in tab and "By chance" in tab

    def test_without_them_no_tab(self, pages):
        page = pages["two_classes"].read_text(encoding="utf-8")
        assert not panel(page, "blocks") and not panel(page, "confounders") and "Covariates" not in page


class TestSamples:
    def test_positions_are_out_of_fold_scores(self, two_classes):
        facts = two_classes.facts
        space = samples.section(facts).payload
        for part in (facts.train, facts.test):
            points = {point[0]: point[6] for point in space["points"]}
            for i, name in enumerate(part.ids):
                places = [part.out_of_fold[i], part.scores[i]] if part is facts.train else [part.scores[i]]
                np.testing.assert_allclose(points[name], places, rtol=1e-3, atol=1e-8)
        np.testing.assert_array_equal(facts.train.out_of_fold, facts.held_out.scores)

    def test_outlines_are_those_of_held_out_samples(self, two_classes):
        facts = replace(two_classes.facts, nested=nested_like("better"))
        out_of_fold = np.vstack([facts.train.out_of_fold, facts.test.scores])
        truth = np.concatenate([facts.train.truth, facts.test.truth])
        for c, drawn in enumerate(samples.section(facts).payload["ellipses"]):
            own = ellipse(out_of_fold[truth == c])
            np.testing.assert_allclose(drawn["mean"], own.mean, rtol=1e-3, atol=1e-9)

    def test_the_table_of_classes_uses_held_out_samples(self, shuffled):
        facts = shuffled.facts
        for row in samples.section(facts).content["means"]:
            mean, spread = row["cells"][0]
            own = facts.held_out.scores[shuffled.y == row["name"], 0]
            assert mean == pytest.approx(own.mean()) and spread == pytest.approx(own.std())
            assert abs(mean) < 0.5  # where training has more than one standard deviation
        seen = facts.train.scores[:, 0]
        assert abs(seen[shuffled.y == "ill"].mean() - seen[shuffled.y == "well"].mean()) > 1.5

    @pytest.mark.parametrize("nested", [None, nested_like("not shown"), nested_like("worse")])
    def test_random_labels_get_no_outline_and_no_claim(self, shuffled, nested):
        page = render(replace(shuffled.facts, nested=nested))
        assert payload(page)["samples"]["ellipses"] == [None, None]
        text = words(page)
        assert text.count("The classes have no outlines") == 2
        assert "Outlines:" not in text and "The prediction rests on" not in text
        assert "higher → well in the training samples; not shown for others" in text
        assert "Factor 1 (not shown to predict)" in text
        assert "none of 400 features is shown to differ between the classes" in text
        assert "Classes without markers: ill and well" in text

    def test_without_out_of_fold_scores_the_page_warns_of_training_scores(self, shuffled):
        train = replace(shuffled.facts.train, out_of_fold=None)
        page = render(replace(shuffled.facts, train=train, held_out=None))
        assert "or not at all" in words(page)
        space = payload(page)["samples"]
        assert space["outOfFold"] is False and not any(space["ellipses"])
        assert all(len(point[6]) == 1 for point in space["points"])

    def test_small_folds_are_reported(self):
        X, y = table(12, 30, 2)
        model = SMFClassifier(11, xi=0.1, lam=1.0, certify=None).fit(X, y)
        text = words(render(Case(model, X, y).facts))
        assert re.search(r"Out-of-fold scores are not available: .*n_components=11", text)

    def test_thinning_keeps_the_shares_of_classes(self):
        np.testing.assert_array_equal(thinned(np.zeros(50, int), 50), np.arange(50))
        truth = np.repeat([0, 1, 2], [12_000, 7_995, 5])
        kept = thinned(truth, 1000)
        assert np.bincount(truth[kept]).tolist() == [600, 399, 5]
        assert len(np.unique(kept)) == len(kept)

    def test_ellipses_hold_95_percent_of_new_samples(self):
        rng = np.random.default_rng(0)
        mix = np.array([[2.0, 0.0], [1.5, 0.3]])
        for n in (6, 30):
            inside = []
            for _ in range(1000):
                own = ellipse(rng.standard_normal((n, 2)) @ mix.T + 5)
                new = rng.standard_normal(2) @ mix.T + 5 - own.mean
                inside.append(new @ np.linalg.solve(own.covariance, new) <= own.radius**2)
            assert np.mean(inside) == pytest.approx(0.95, abs=0.02)
        many = ellipse(rng.standard_normal((100_000, 3)))
        assert many.radius == pytest.approx(np.sqrt(chi2.ppf(0.95, 2)), rel=1e-3)
        assert ellipse(np.zeros((3, 2))) is None

    def test_axes_contain_all_samples_and_limit_ellipses(self):
        scores = np.random.default_rng(0).standard_normal((40, 3))
        for outline in (None, ellipse(scores), ellipse(100 * scores)):
            low, high = ranges(scores, [outline]).T
            assert np.all(low < scores.min(axis=0)) and np.all(high > scores.max(axis=0))
            assert np.all(high - low < 2 * np.ptp(scores, axis=0))
        low, high = ranges(np.ones((5, 1)), [None]).T  # without any spread
        assert low < 1 < high


class TestHeatMap:
    rng = np.random.default_rng(0)
    # Two groups of samples, two of features, shuffled.
    groups = rng.permutation(np.repeat([0, 1], 15))
    kinds = rng.permutation(np.repeat([-1, 1], 6))
    X = 3 * groups[:, None] * kinds + rng.standard_normal((30, 12))
    Z = ((X - X.mean(axis=0)) / X.std(axis=0)).T

    def test_groups_lie_together_and_values_in_the_order_of_the_leaves(self):
        found = heat_map(self.X)
        for values, order in [(self.groups, found.columns), (self.kinds, found.rows)]:
            assert sorted(order) == list(range(len(values)))
            assert np.count_nonzero(np.diff(values[order])) == 1
        np.testing.assert_allclose(found.values, self.Z[np.ix_(found.rows, found.columns)])

    def test_trees_are_those_of_ward(self):
        found = heat_map(self.X)
        heights, expected = found.row_tree[:, 4], linkage(pdist(self.Z), "ward")[:, 2]
        np.testing.assert_allclose(heights, expected / expected[-1])
        # Both parts of a join are lower than it, and lie on either side of its place.
        assert np.all(found.row_tree[:, [1, 3]] <= heights[:, None])
        assert np.all(found.row_tree[:, 0] < found.row_tree[:, 2])

    def test_the_order_is_that_of_the_display(self):
        found = heat_map(self.X)
        shown = HeatmapDisplay(self.Z, [f"g{i}" for i in range(12)]).plot()
        assert shown.features_ == found.rows.tolist() and shown.samples_ == found.columns.tolist()

    @pytest.mark.parametrize("shape", [(1, 3), (3, 1), (4, 2)])
    def test_small_and_constant_tables(self, shape):
        found = heat_map(np.ones(shape))
        assert found.values.shape == shape[::-1]
        assert np.isfinite(found.row_tree).all() and np.isfinite(found.column_tree).all()


class TestFactors:
    def test_bars_are_the_extreme_features(self, two_classes):
        X, view = two_classes.X, factor_view(two_classes.model)
        facts = replace(two_classes.facts, markers={"gene 0": "note"})
        notes = set()
        for j, factor in enumerate(factors.section(facts).payload["supervised"]):
            # With the scores as anyone would compute it.
            r = np.array([np.corrcoef(X[name], facts.train.scores[:, j])[0, 1] for name in X])
            order = np.argsort(-r)
            assert [bar[0] for bar in factor["high"][:5]] == list(X.columns[order[:5]])
            assert [bar[0] for bar in factor["low"][:5]] == list(X.columns[order[::-1][:5]])
            largest = np.abs(view.weights[j]).max()
            for end, sign in (("high", 1), ("low", -1)):
                for name, said, scaled_weight, weight, disagrees, *note in factor[end]:
                    i = list(X.columns).index(name)
                    assert sign * r[i] > 0  # at no end that it correlates against
                    assert number(said) == pytest.approx(r[i], abs=0.0051)
                    assert number(weight) == pytest.approx(view.weights[j, i], rel=0.01)
                    assert number(scaled_weight) == pytest.approx(view.weights[j, i] / largest, abs=0.00051)
                    assert disagrees == (r[i] * view.weights[j, i] < 0)
                    notes |= set(note)
        assert notes == {"note"}

    def test_factors_without_effect_are_background(self):
        X, y = table(40, 12, 3)
        facts = Case(SMFClassifier(2, lam=1e300).fit(X, y), X, y).facts
        for content in (facts, replace(facts, held_out=None)):
            text = words(render(content))
            assert "background: adds nothing to the prediction0" in text  # and then the area
            assert "beyond factor" not in text

    def test_odds_ratios_of_covariates(self, two_classes):
        effects = pd.DataFrame(
            {
                "covariate": ["age (per unit)", "sex: M vs F"],
                "output": ["class 1"] * 2,
                "against": ["class 0"] * 2,
                "kind": ["odds ratio"] * 2,
                "estimate": [1.0834, 0.6065],
                "low": [1.02, np.nan],
                "high": [1.15, np.nan],
                "estimate_per_sd": [2.23, 0.78],
                "low_per_sd": [1.22, np.nan],
                "high_per_sd": [4.05, np.nan],
            }
        )
        found = factors.covariates(replace(two_classes.facts, covariate_table=effects))
        assert found["head"][:3] == ["Covariate", "Odds ratio", "95 % interval"]
        assert found["rows"] == [
            ["age (per unit)", "1.08", "1.02 to 1.15", "2.23", "1.22 to 4.05"],
            ["sex: M vs F", "0.61", "–", "0.78", "–"],
        ]
        assert found["right"] == [False, True, True, True, True]
        assert found["against"] == "class 0" and found["ratios"]


def test_surfaces_hold_every_score_of_the_search(two_classes):
    search, found = two_classes.model, choice(two_classes.facts).payload
    drawn = [v for surface in found["surfaces"] for row in surface["mean"] for v in row]
    np.testing.assert_allclose(sorted(drawn), sorted(search.cv_results_["mean_test_score"]), rtol=1e-3)
    (chosen,) = (s for s in found["surfaces"] if s["chosen"])
    (row, column), best = chosen["chosen"], search.best_params_
    assert chosen["said"][row][column] == f"{search.best_score_:.3f}".replace("-", "−")
    assert (chosen["model"], chosen["rank"]) == (best["model"], best["n_components"])
    assert float(chosen["xi"][column]) == pytest.approx(best["xi"], rel=1e-2)
    assert float(chosen["lam"][row]) == pytest.approx(best["lam"], rel=1e-2)


def test_the_cross_validated_score_comes_first_without_held_out_samples(two_classes):
    page = render(replace(two_classes.facts, test=None))
    cards = re.findall(r'class="card"><dt>(.*?)</dt><dd><strong>(.*?)</strong>', page)
    assert cards[0] == (
        "Cross-validated log-likelihood",
        f"{two_classes.model.best_score_:.3f}".replace("-", "−"),
    )
    assert "does not show how well" in words(page) and "optimistic" in words(page)


def test_one_sample_without_a_label():
    X, y = table(60, 20, 2)
    some = np.where(np.arange(60) < 1, None, y)
    page = words(render(gather(SMFClassifier(1).fit(X, some), X, some, features=True)))
    assert (
        "1 sample had no label. It contributed to the factors" in page and "the predictions for it." in page
    )


def test_a_recorded_search_unlabelled_samples_and_missing_values(two_classes):
    X, y = table(60, 20, 2)
    some = np.where(np.arange(60) < 10, None, y)
    model = make_pipeline(SimpleImputer(), SMFClassifier(1)).fit(X.mask(X > 2), some)
    search = replace(searched(two_classes.model), scoring="balanced_accuracy", procedure=None)
    predictions = np.random.default_rng(0).dirichlet([1, 1], 50)
    content = {"search": search, "nested": nested_like("better", predictions=predictions), "features": True}
    page = render(gather(model, X.mask(X > 2), some, **content))
    assert "10 samples had no label. They contributed to the factors" in words(page)
    assert "50 for training + 10 without a label" in words(page)
    assert "Mean balanced accuracy over 3 splits" in words(page)
    for tab in ("result", "convergence"):
        assert panel(page, tab).count(OF_COMPLETED) == 1
    assert {point[7] for point in payload(page)["samples"]["points"]} == {"out of fold"}


def test_the_table_of_nested_scores_has_every_method_and_measure():
    nested = nested_like("better")
    found = result.nested_table(nested)
    assert found["methods"] == ["This model", *nested.baselines]
    rows = {row["metric"]: row["cells"] for row in found["rows"]}
    assert list(rows) == list(nested.summary)
    assert rows["balanced_accuracy"][0]["mean"] == nested.summary["balanced_accuracy"]["mean"]
    assert rows["calibration_slope"][-1] is None  # always one class: nothing to calibrate
    assert found["compared"] == "balanced_accuracy" and len(found["differences"]) == 2


def test_the_table_of_nested_scores_marks_covariates():
    nested = nested_like("better")
    nested.baselines = {**nested.baselines, "covariates alone": nested.summary}
    found = result.nested_table(nested)
    assert found["methods"] == ["This model: covariates + factors", *nested.baselines]
    said = Times().legend(["tuned PCA + Cox regression", "covariates alone"], [], [])
    assert said.startswith("model: covariates + factors; PCA+Cox, ridge: tuned Cox regressions with the cov")


class TestFeatures:
    def test_the_table_is_that_of_feature_effects(self, two_classes):
        case, facts = two_classes, two_classes.facts
        content = features.section(facts).content["effects"]
        up = facts.view.outputs[0]
        expected = feature_effects(case.model, case.X, case.y, positive=up).set_index("feature")
        assert content["head"][1] == f"Mean, {up}"
        assert len(content["rows"]) == content["features"] == 40
        assert content["differ"] == int((expected["q"] <= 0.05).sum()) > 0
        shown = [number(row[6]) for row in content["rows"]]
        assert shown == sorted(shown)
        columns = ["mean", "mean_rest", "difference_in_sd", "auc", "p", "q", "correlation", "coef_per_sd"]
        for name, *numbers in content["rows"]:
            for value, text in zip(expected.loc[name, columns], numbers, strict=True):
                assert number(text) == pytest.approx(value, rel=0.06, abs=0.006, nan_ok=True)

    def test_stable_features_have_a_sentence_and_a_table(self, two_classes):
        case, facts = two_classes, two_classes.facts
        model = scaled(n_components=1, xi=0.1, lam=1.0, certify=None).fit(case.X, case.y)
        own = stable_features(model, case.X, case.y, n_pairs=10)
        assert own.n_selected
        page = render(replace(facts, feature_results=replace(facts.feature_results, stable=own)))
        assert words(page).count(own.statement) == 2  # in the first tab, and with the features
        assert f"{own.selected[0]}</th>" in page

    def test_slow_results_are_omitted_and_the_page_reports_it(self, shuffled, tmp_path, monkeypatch):
        case = shuffled
        monkeypatch.setattr(progress, "MOST_SECONDS", 0)
        monkeypatch.setattr(progress, "MOST_ENTRIES", 1)
        monkeypatch.setattr(feature_results, "nearness", None)  # is not called
        text = words(write_report(tmp_path / "page.html", case.model, case.X, case.y).read_text())
        assert "was not computed: it would take more than 0 seconds" in text
        assert "plain methods:" not in text

    def test_the_comparison_with_plain_methods_follows_the_verdict(self, two_classes, pages):
        said = nearness(two_classes.model, two_classes.X, two_classes.y).statement
        page = pages["two_classes"].read_text(encoding="utf-8")
        box = re.search(r'<section class="verdict.*?</section>', page, flags=re.S)[0]
        assert said in words(f"<main>{box}</main>")
        assert "was not requested. To compute it, call stable_features(model, X, y)" in words(page)
