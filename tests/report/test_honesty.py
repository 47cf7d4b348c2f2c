"""The page flatters nobody: pictures of samples not seen, and no outlines where labels mean nothing."""

import html
import json
import re
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.stats import mannwhitneyu
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics import roc_auc_score
from tests.report.conftest import Case, nested_like, scaled, table
from tests.report.test_facts import facts_of, number

from superfactor import SMFClassifier
from superfactor.interpretation import (
    factor_view,
    feature_effects,
    held_out_scores,
    nearness,
    stable_features,
)
from superfactor.interpretation.refits import progress
from superfactor.report.facts import alone, trusted
from superfactor.report.sections import factors, features, result, samples


@pytest.fixture(scope="module")
def shuffled():
    """Wide noise: in training the classes separate perfectly."""
    X, _ = table(60, 400, 2)
    X = X.sample(frac=1, random_state=0).reset_index(drop=True)
    y = np.random.default_rng(3).permutation(np.repeat(["ill", "well"], 30))
    model = scaled(n_components=2, xi=1e-3, lam=1.0).fit(X, y)
    assert model.score(X, y) == 1
    return Case(model, X, y)


def payload_of(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="payload">(.*?)</script>', text, flags=re.S)[1])


def words_of(path):
    body = path.read_text(encoding="utf-8").partition("<main")[2].partition("</main>")[0]
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", body)))


class TestMap:
    def test_samples_lie_where_models_put_them_that_had_not_seen_them(self, two_classes, tmp_path):
        case = two_classes
        space = payload_of(case.write(tmp_path / "page.html"))["samples"]
        held = held_out_scores(case.model, case.X, case.y)
        view = factor_view(case.model)
        training = view.scores_of(case.model.transform(case.X))
        points = {point[0]: point for point in space["points"]}
        for i, name in enumerate(case.X.index):
            blind, seen = points[name][6]
            np.testing.assert_allclose(blind, held.scores[i], rtol=1e-3, atol=1e-8)
            np.testing.assert_allclose(seen, training[i], rtol=1e-3, atol=1e-8)
        new = view.scores_of(case.model.transform(case.X_test))
        for i, name in enumerate(case.X_test.index):
            np.testing.assert_allclose(points[name][6], [new[i]], rtol=1e-3, atol=1e-8)

    def test_outlines_are_those_of_samples_not_seen(self, two_classes):
        case = two_classes
        held = held_out_scores(case.model, case.X, case.y)
        told = {"held_out": held, "nested": nested_like("better")}
        facts = facts_of(case.model, case.X, case.y, case.X_test, case.y_test, **told)
        drawn = samples.section(facts).payload["ellipses"]
        blind = np.vstack([held.scores, facts.test.scores])
        truth = np.concatenate([case.y, case.y_test])
        for name, ellipse in zip(facts.classes, drawn, strict=True):
            np.testing.assert_allclose(ellipse["mean"], blind[truth == name].mean(axis=0), rtol=1e-3)

    def test_class_means_are_of_samples_not_seen(self, shuffled):
        held = held_out_scores(shuffled.model, shuffled.X, shuffled.y)
        facts = facts_of(shuffled.model, shuffled.X, shuffled.y, held_out=held)
        for row in samples.section(facts).told["means"]:
            mean, spread = row["cells"][0]
            own = held.scores[shuffled.y == row["name"], 0]
            assert mean == pytest.approx(own.mean()) and spread == pytest.approx(own.std())
            assert abs(mean) < 0.5  # where training has more than one standard deviation
        seen = facts.train.scores[:, 0]
        assert abs(seen[shuffled.y == "ill"].mean() - seen[shuffled.y == "well"].mean()) > 1.5

    def test_without_out_of_fold_scores_the_page_says_that_training_flatters(self, shuffled, tmp_path):
        path = shuffled.write(tmp_path / "page.html", held_out=False)
        assert "or not apart at all" in words_of(path)
        space = payload_of(path)["samples"]
        assert space["outOfFold"] is False and not any(space["ellipses"])
        assert all(len(point[6]) == 1 for point in space["points"])

    def test_where_folds_are_too_small_the_page_says_why(self, tmp_path):
        X, y = table(12, 30, 2)
        model = SMFClassifier(11, xi=0.1, lam=1.0, certify=None).fit(X, y)
        words = words_of(Case(model, X, y).write(tmp_path / "page.html"))
        assert re.search(r"Out-of-fold scores could not be had: .*n_components=11", words)

    def test_scores_of_other_samples_are_refused(self, shuffled, tmp_path):
        held = held_out_scores(shuffled.model, shuffled.X, shuffled.y)
        with pytest.raises(ValueError, match=r"held_out: scores of shape \(60, 2\), \(50, 2\) is"):
            Case(shuffled.model, shuffled.X[:50], shuffled.y[:50]).write(
                tmp_path / "page.html", held_out=held
            )


class TestShuffledLabels:
    @pytest.mark.parametrize("nested", [None, nested_like("not shown"), nested_like("worse")])
    def test_no_outline_is_drawn_and_the_caption_says_why(self, shuffled, tmp_path, nested):
        path = shuffled.write(tmp_path / "page.html", nested=nested)
        assert payload_of(path)["samples"]["ellipses"] == [None, None]
        words = words_of(path)
        assert words.count("No outlines are drawn around the classes") == 2
        assert "Outlines:" not in words
        assert "higher → well in the training samples; not shown for others" in words
        assert "none of 400 features is shown to differ between the classes" in words
        assert "Without any: ill and well" in words

    def test_nothing_is_called_predictive(self, shuffled, tmp_path):
        page = shuffled.write(tmp_path / "page.html")
        words = words_of(page)
        assert "The prediction rests on" not in words
        assert "Factor 1 (not shown to predict)" in words
        held = held_out_scores(shuffled.model, shuffled.X, shuffled.y)
        facts = facts_of(shuffled.model, shuffled.X, shuffled.y, held_out=held)
        assert facts.roles == ["not shown", "background"] and facts.view.predictive[0]

    @pytest.mark.parametrize("positive", [None, "class_0", "class_1", "class_2"])
    def test_whichever_class_is_up_the_classes_are_apart_or_not(self, positive):
        data = load_wine()
        X, y = data.data, data.target_names[data.target].astype(str)
        for labels, expected in ((y, True), (np.random.default_rng(0).permutation(y), False)):
            model = scaled(n_components=2, lam=1.0).fit(X, labels)
            held = held_out_scores(model, X, labels, positive=positive)
            facts = facts_of(model, X, labels, held_out=held, positive=positive)
            assert facts.separates is expected

    def test_the_verdict_decides_where_there_is_one(self, two_classes):
        case = two_classes
        held = held_out_scores(case.model, case.X, case.y)
        assert facts_of(case.model, case.X, case.y, held_out=held).separates
        for grade, drawn in (("better", True), ("not shown", False)):
            facts = facts_of(case.model, case.X, case.y, nested=nested_like(grade), held_out=held)
            assert facts.separates is drawn
            ellipses = samples.section(facts).payload["ellipses"]
            assert all(ellipses) if drawn else not any(ellipses)

    def test_ten_seconds_in_front_of_the_first_screen(self, browser, shuffled, tmp_path):
        """Marks of both classes lie among each other, and nothing is drawn around them."""
        path = shuffled.write(tmp_path / "page.html", nested=nested_like("not shown"))
        page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
        page.goto(path.as_uri())
        assert page.locator(".ellipse").count() == 0
        colours = page.locator("[data-figure=overview] .sample").evaluate_all(
            "marks => marks.map((m) => [m.classList.contains('class-0') ? 1 : 0,"
            " m.getBoundingClientRect().x])"
        )
        own, x = np.array(colours).T
        assert 0.3 < roc_auc_score(own, x) < 0.7
        page.evaluate("document.getElementById('samples-tab').click()")
        page.select_option("#positions", "training")
        marks = page.locator("[data-figure=samples] > svg .sample")
        own, x = np.array(
            marks.evaluate_all(
                "marks => marks.map((m) => [m.classList.contains('class-0') ? 1 : 0,"
                " m.getBoundingClientRect().x])"
            )
        ).T
        assert abs(roc_auc_score(own, x) - 0.5) == 0.5  # what nobody is shown who has not asked for it
        assert page.locator(".ellipse").count() == 0
        texts = page.locator("[data-figure=samples] svg text").all_text_contents()
        assert "Factor 1 (not shown to predict), score in training" in texts
        page.context.close()


def test_a_page_of_factors_that_predict_nothing(tmp_path):
    X, y = table(40, 12, 3)
    model = SMFClassifier(2, lam=1e300).fit(X, y)
    for nothing in ({}, {"held_out": False}):
        words = words_of(Case(model, X, y).write(tmp_path / "page.html", **nothing))
        assert "background: adds nothing to the prediction0" in words  # and then the area
        assert "beside factor" not in words


@pytest.fixture(scope="module", params=["cancer", "wine", "shuffled wine"])
def real(request):
    load = load_breast_cancer if request.param == "cancer" else load_wine
    data = load(as_frame=True)
    X, y = data.data, np.asarray(data.target_names)[data.target].astype(str)
    if "shuffled" in request.param:
        y = np.random.default_rng(0).permutation(y)
    model = scaled(n_components=3, lam=1.0).fit(X, y)
    return X, y, facts_of(model, X, y, held_out=held_out_scores(model, X, y))


class TestWords:
    def test_features_at_the_high_end_are_higher_in_samples_with_a_high_score(self, real):
        X, _, facts = real
        for j, factor in enumerate(result._factors(facts)):
            score = facts.train.scores[:, factor["number"] - 1]
            high, low = score >= np.quantile(score, 2 / 3), score <= np.quantile(score, 1 / 3)
            for end, sign in (("high", 1), ("low", -1)):
                for name in factor[end]:
                    difference = X.loc[high, name].mean() - X.loc[low, name].mean()
                    assert sign * difference > 0, (j, name)

    def test_background_factors_add_nothing_to_the_prediction(self, real):
        """The log loss of the training samples is the same without them."""
        X, y, facts = real
        estimator = facts.estimator
        Z = facts.steps[0].transform(X)
        before = estimator.predict_proba(Z)
        for j in np.flatnonzero(~facts.view.predictive):
            along = np.linalg.pinv(facts.view.weights)[:, j]
            moved = Z - np.outer(facts.train.scores[:, j], along)
            loss = [
                -np.mean(np.log(p[np.arange(len(y)), facts.train.truth]))
                for p in (before, estimator.predict_proba(moved))
            ]
            assert loss[1] - loss[0] < 0.01 * (np.log(len(facts.classes)) - loss[0])

    def test_each_factor_has_the_area_of_its_own_on_samples_not_seen(self, real):
        _, y, facts = real
        for j, one in enumerate(alone(facts)):
            area = roc_auc_score(y == one.of, facts.train.blind[:, j])
            assert one.area == pytest.approx(area)
            assert facts.view.coef[:, j].any() or one.area >= 0.5

    def test_areas_are_of_training_samples_where_there_are_no_others_and_the_page_says_so(self, real):
        X, y, facts = real
        seen = facts_of(facts.model, X, y)
        assert factors.section(seen).told["judged"] == "training"
        for j, one in enumerate(alone(seen)):
            area = roc_auc_score(y == one.of, seen.train.scores[:, j])
            assert one.area == pytest.approx(area)
            assert one.area >= 0.5  # from the side of the factor's sign


class TestFeatures:
    def test_the_table_is_that_of_feature_effects(self, two_classes, tmp_path):
        case = two_classes
        facts = facts_of(case.model, case.X, case.y, features=True)
        told = features.section(facts).told["effects"]
        up = facts.view.outputs[0]
        expected = feature_effects(case.model, case.X, case.y, positive=up).set_index("feature")
        assert told["head"][1] == f"Mean, {up}"
        assert len(told["rows"]) == told["features"] == 40
        assert told["differ"] == int((expected["q"] <= 0.05).sum()) > 0
        shown = [number(row[6]) for row in told["rows"]]
        assert shown == sorted(shown)
        for name, mean, rest, _, auc, p, q, correlation, _ in told["rows"][:5]:
            inside, outside = case.X.loc[case.y == up, name], case.X.loc[case.y != up, name]
            assert number(mean) == pytest.approx(inside.mean(), abs=0.006)
            assert number(rest) == pytest.approx(outside.mean(), abs=0.006)
            test = mannwhitneyu(inside, outside, method="asymptotic", use_continuity=False)
            assert number(auc) == pytest.approx(test.statistic / 900, abs=0.0006)
            assert number(p) == pytest.approx(test.pvalue, rel=0.06)
            assert number(q) == pytest.approx(expected.loc[name, "q"], rel=0.06)
            assert number(correlation) == pytest.approx(expected.loc[name, "correlation"], abs=0.006)

    def test_effects_are_computed_once(self, two_classes, monkeypatch):
        case, calls = two_classes, []

        def counted(*args, **options):
            calls.append(options)
            return feature_effects(*args, **options)

        markers = sys.modules["superfactor.interpretation.features.class_features"]
        for module in (trusted, markers):
            monkeypatch.setattr(module, "feature_effects", counted)
        facts = facts_of(case.model, case.X, case.y, features=True)
        assert len(calls) == 1
        expected = markers.class_features(case.model, case.X, case.y)
        pd.testing.assert_frame_equal(facts.trusted.markers, expected)

    def test_names_survive_a_model_without_them(self, two_classes):
        """The page drops names for speed; tables have them all the same."""
        case = two_classes
        facts = facts_of(case.model, case.X, case.y, features=True, stable=None)
        own = stable_features(case.model, case.X, case.y)
        assert facts.trusted.stable.table["feature"].tolist() == own.table["feature"].tolist()
        assert facts.trusted.stable.statement == own.statement
        assert set(facts.trusted.effects["feature"]) == set(case.X)
        assert set(facts.trusted.markers["feature"]) <= set(case.X)

    def test_what_returns_is_said_in_words_and_in_a_table(self, two_classes, tmp_path):
        case = two_classes
        own = stable_features(case.model, case.X, case.y, n_pairs=10)
        assert own.n_selected
        words = words_of(case.write(tmp_path / "page.html", stable=own))
        assert words.count(own.statement) == 2  # in the first tab, and with the features
        assert f"{own.selected[0]}</th>" in (tmp_path / "page.html").read_text(encoding="utf-8")

    def test_the_page_says_how_to_have_it_where_it_has_not(self, two_classes, tmp_path):
        words = words_of(two_classes.write(tmp_path / "page.html", stable=False))
        assert "were not asked for. To have them: stable_features(model, X, y)" in words

    def test_what_takes_long_is_left_out_unasked_and_the_page_says_so(
        self, two_classes, tmp_path, monkeypatch
    ):
        monkeypatch.setattr(progress, "MOST_SECONDS", 0)
        words = words_of(two_classes.write(tmp_path / "page.html", stable=None))
        assert "were left out: it would have taken more than 0 seconds" in words

    def test_too_few_samples_for_halves_are_no_reason_to_write_no_page(self, tmp_path):
        X, y = table(30, 12, 2)
        y = np.array([*y[:29], "rare"])
        model = SMFClassifier(1, xi=0.1, lam=1.0).fit(X, y)
        words = words_of(Case(model, X, y).write(tmp_path / "page.html", stable=None))
        assert "were left out: y: class 'rare' has 1 of the 2 samples" in words

    def test_columns_sort_by_size_and_rows_that_are_hidden_stay_hidden(self, opened):
        page = opened("two_classes", viewport={"width": 1400, "height": 900})
        page.tab("features")

        def column(k):
            cells = page.page.locator(f"#effects-table tbody tr:visible td:nth-child({k})")
            return [number(text) for text in cells.all_text_contents()]

        button = page.page.locator("#effects-table [aria-label='Sort by AUC']")
        button.click()
        assert column(5) == sorted(column(5))
        assert page.page.locator("#effects-table th[aria-sort=ascending]").count() == 1
        button.click()
        assert column(5) == sorted(column(5), reverse=True)
        page.page.fill("#search-effects-table", "gene 1")
        few = column(5)
        assert 0 < len(few) < 40 and few == sorted(few, reverse=True)
        page.page.locator("#effects-table .sort").first.click()
        names = page.page.locator("#effects-table tbody tr:visible th").all_text_contents()
        assert names == sorted(names, key=lambda name: int(name.split()[1]))
        assert page.said == []


class TestNearness:
    def test_the_verdict_says_how_near_the_plain_methods_are(self, two_classes, tmp_path):
        case = two_classes
        said = nearness(case.model, case.X, case.y).statement
        page = case.write(tmp_path / "page.html").read_text(encoding="utf-8")
        box = re.search(r'<section class="verdict.*?</section>', page, flags=re.S)[0]
        assert said in html.unescape(box)
        page = case.write(tmp_path / "page.html", nearness=False).read_text(encoding="utf-8")
        assert said not in html.unescape(page)

    def test_large_tables_are_not_regressed_unasked(self, two_classes, tmp_path, monkeypatch):
        monkeypatch.setattr(progress, "MOST_ENTRIES", 1)
        monkeypatch.setattr(trusted, "nearness", None)  # which nobody calls
        assert "plain methods:" not in words_of(two_classes.write(tmp_path / "page.html"))
