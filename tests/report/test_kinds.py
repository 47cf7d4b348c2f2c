"""Pages of numbers, survival times and several labels: what they tell, beside other computations."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.report.conftest import Case, flags, numbers, panel, payload, survival, times, words

from superfactor import SMFClassifier, SMFRegressor, SMFSurvival
from superfactor.estimators.targets import concordance
from superfactor.interpretation import held_out_scores
from superfactor.outcomes import Times
from superfactor.outcomes.metrics.survival_metrics import hazard_ratio
from superfactor.report import methods_paragraph
from superfactor.report.facts import gather
from superfactor.selection import SMFRegressorCV, SMFSurvivalCV, nested_scores

QUICK = {"stable": False, "nearness": False}


def test_numbers_are_drawn_out_of_fold(of_numbers, tmp_path):
    text = of_numbers.write(tmp_path / "p.html", target="weight").read_text(encoding="utf-8")
    drawn = payload(text)["prediction"]["panels"][0]
    held = held_out_scores(of_numbers.model, of_numbers.X, of_numbers.y)
    assert drawn["ids"] == list(of_numbers.X.index) and drawn["name"] == "weight"
    np.testing.assert_allclose(drawn["true"], of_numbers.y, rtol=1e-3)
    np.testing.assert_allclose(drawn["predicted"], held.activations[:, 0], rtol=1e-3)
    # As text: the heading of the figure and the table below it are rounded alike.
    assert drawn["explained"] == f"{r2_score(of_numbers.y, held.activations[:, 0]):.3f}"
    said = words(text)
    assert drawn["explained"] in said and drawn["error"] in said
    assert "each predicted by a fit without it" in said
    assert "higher → larger weight" in said and "classes" not in re.sub(r"Glossary.*", "", said)
    assert payload(text)["samples"]["scale"]["name"] == "weight"


def test_several_targets_have_their_names(tmp_path):
    X, y = numbers()
    Y = pd.DataFrame({"height": y, "age": X["gene 3"].to_numpy() * 2})
    case = Case(SMFRegressor(2).fit(X, Y), X, Y, options=QUICK)
    text = case.write(tmp_path / "p.html").read_text(encoding="utf-8")
    assert [own["name"] for own in payload(text)["prediction"]["panels"]] == ["height", "age"]
    assert payload(text)["factors"]["outputs"] == ["height", "age"]
    assert "mean of height" in methods_paragraph(case.model, X, Y)


@pytest.mark.parametrize("chosen", [False, True])
def test_exposures_in_a_column_with_a_name(chosen, tmp_path):
    X, _ = numbers()
    rng = np.random.default_rng(0)
    X["years"] = 10 ** rng.uniform(-1, 1, len(X))
    y = rng.poisson(X["years"] * np.exp(0.3 * X["gene 3"]))
    asked = {"loss": "poisson", "exposure_column": "years"}
    model = (SMFRegressorCV(cv=3, xi=1.0, lam=1.0, **asked) if chosen else SMFRegressor(2, **asked)).fit(X, y)
    page = Case(model, X, y, options={"nearness": False, "stable": None}).write(tmp_path / "p.html")
    text = page.read_text(encoding="utf-8")
    assert payload(text)["prediction"]["panels"][0]["true"] == y.tolist()
    assert "Both axes increase with the exposure, years" in words(text)
    said = methods_paragraph(model, X, y)
    assert "the Poisson regression uses" in said and "counts were proportional to years" in said
    assert ("standardised to mean 0" in said) == chosen


def test_survival_curves_use_out_of_fold_risks(of_times, tmp_path):
    text = of_times.write(tmp_path / "p.html").read_text(encoding="utf-8")
    y = of_times.y
    event, time = y["event"].astype(float), y["time"]
    held = held_out_scores(of_times.model, of_times.X, y)
    curves = payload(text)["prediction"]["curves"]
    assert (
        sum(own["samples"] for own in curves) == len(y)
        and sum(own["events"] for own in curves) == event.sum()
    )
    risky = held.activations[:, 0] > np.quantile(held.activations[:, 0], 2 / 3)
    assert curves[-1]["events"] == event[risky].sum()
    said = words(text)
    assert "each risk comes from a model fitted without the sample" in said
    assert f"{concordance(event, time, held.activations[:, 0]):.3f}" in said
    for score in held.scores.T:
        ratio = hazard_ratio(np.column_stack([event, time]), score).estimate
        assert f"<td>{ratio:.2f}</td>" in panel(text, "prediction")
    assert payload(text)["classes"] == ["censored", "event"]
    assert payload(text)["prediction"]["axis"] == "time"


def test_only_held_out_samples_have_tests_of_ratios(of_times, tmp_path):
    # Models of different folds share samples, so a p-value for independent samples would be too small.
    text = of_times.write(tmp_path / "p.html").read_text(encoding="utf-8")
    drawn, shown = payload(text)["prediction"], panel(text, "prediction")
    assert set(drawn["ratio"]) == {"estimate"} and "p" not in drawn
    assert "p = " not in shown and "95 % interval" not in shown
    assert "descriptive, without interval and p" in shown
    X, y = times()
    y = survival(y)
    apart = Case(SMFSurvival(2).fit(X[:90], y[:90]), X[:90], y[:90], X[90:], y[90:], options=QUICK)
    text = apart.write(tmp_path / "q.html", held_out=False).read_text(encoding="utf-8")
    assert set(payload(text)["prediction"]["ratio"]) == {"estimate", "low", "high", "p"}
    assert "of the groups: p = " in panel(text, "prediction")
    assert "descriptive" not in panel(text, "prediction")


def test_slopes_out_of_fold_have_no_p(of_numbers, tmp_path):
    shown = panel(of_numbers.write(tmp_path / "p.html").read_text(encoding="utf-8"), "prediction")
    assert "Slopes of samples that were used in fits are descriptive" in shown
    assert "95 % interval" not in shown


def test_the_axis_of_times_has_the_name_of_their_column_and_strata_are_kept_apart(tmp_path):
    X, y = times()
    table = pd.DataFrame({"died": y[:, 0], "days": y[:, 1], "stratum": np.arange(len(y)) % 2})
    case = Case(SMFSurvival(1).fit(X, table), X, table, options=QUICK)
    text = case.write(tmp_path / "p.html").read_text(encoding="utf-8")
    drawn = payload(text)["prediction"]
    assert drawn["axis"] == "days" and "Median survival (days)" in words(text)
    assert sum(own["samples"] for own in drawn["curves"]) == len(y)


def test_a_median_with_few_samples_at_risk_is_marked(of_times, tmp_path):
    text = of_times.write(tmp_path / "p.html").read_text(encoding="utf-8")
    for own in payload(text)["prediction"]["curves"]:
        few = own["median"] is not None and own["left"] < 10
        assert (f"{own['left']} left then" in panel(text, "prediction")) == few
    y = of_times.y[:12]
    page = Times.page.drawn(np.column_stack([y["event"], y["time"]]).astype(float), np.zeros((12, 1)), [])
    (own,) = page["curves"]
    assert own["left"] == (y["time"] >= own["median"]).sum()


def test_nested_scores_are_the_headline_and_draw_the_curves(tmp_path):
    X, y = times()
    y = survival(y)
    search = SMFSurvivalCV([1], xi=[0.1], lam=[0.1, 1.0], cv=3).fit(X, y)
    nested = nested_scores(search, X, y, n_splits=3, n_repeats=1)
    text = (
        Case(search, X, y, options=QUICK)
        .write(tmp_path / "p.html", nested=nested)
        .read_text(encoding="utf-8")
    )
    assert nested.verdict.headline in words(text) and "ridge Cox regression" in words(text)
    assert ">Integrated Brier score<" in panel(text, "result")
    explained = set(re.findall(r'data-term="([^"]+)"', text))
    assert "term-calibration" in explained <= set(re.findall(r'id="(term-[^"]+)"', text))
    risk = nested.predictions[:, 0]
    curves = payload(text)["prediction"]["curves"]
    assert curves[0]["events"] == y["event"][risk <= np.quantile(risk, 1 / 3)].sum()
    said = methods_paragraph(search, X, y, nested=nested)
    assert f"{int(y['event'].sum())} events, median follow-up (reverse Kaplan–Meier)" in said
    assert "by the log partial likelihood per event in 3-fold" in said and "the Cox model uses" in said


def test_held_out_covariates_and_samples_without_a_time(tmp_path):
    X, y = times()
    Z = pd.DataFrame({"age": np.random.default_rng(5).standard_normal(len(X))})
    part, test = slice(0, 100), slice(100, None)
    y[:5] = np.nan
    model = SMFSurvival(2).fit(X[part], y[part], covariates=Z[part])
    beside = {"covariates": Z[part], "covariates_test": Z[test]}
    case = Case(model, X[part], y[part], X[test], y[test], options=QUICK | beside)
    text = case.write(tmp_path / "p.html").read_text(encoding="utf-8")
    said = words(text)
    assert "different folds" not in panel(text, "prediction")
    paragraph = methods_paragraph(model, X[part], y[part], covariates=Z[part])
    assert "5 samples without an outcome contributed" in paragraph
    risk = model.predict(X[test], covariates=Z[test])
    assert f"On 50 held-out samples: concordance {concordance(*y[test].T, risk):.3f}" in said
    assert "5 samples had no outcome. They contributed to the factors" in said and "Hazard ratio" in panel(
        text, "factors"
    )


def test_several_labels(tmp_path):
    X, Y = flags()
    case = Case(SMFClassifier(2).fit(X, Y), X, Y, options=QUICK)
    text = case.write(tmp_path / "p.html").read_text(encoding="utf-8")
    shown = payload(text)["prediction"]
    assert [own["name"] for own in shown["labels"]] == ["ill", "relapse", "smoker"]
    assert [own["known"] for own in shown["labels"]] == Y.notna().sum().tolist()
    first = payload(text)["samples"]["points"][0][2]
    assert first == Y.iloc[0].fillna(2).astype(int).tolist()
    assert 'id="colour-by"' in text


@pytest.mark.parametrize("made", [numbers, times])
def test_shuffled_outcomes_are_not_shown_to_be_predicted(made, tmp_path):
    X, y = made(shuffle=True)
    kinds = {numbers: (SMFRegressorCV, lambda y: y), times: (SMFSurvivalCV, survival)}
    search, form = kinds[made]
    search = search([1], xi=[0.1], lam=[1.0], cv=3).fit(X, form(y))
    nested = nested_scores(search, X, form(y), n_splits=3, n_repeats=1, baselines=False)
    options = QUICK | {"nested": nested}
    text = Case(search, X, form(y), options=options).write(tmp_path / "p.html").read_text(encoding="utf-8")
    said = words(text)
    assert "Not shown to be better than" in said or "Worse than" in said
    assert "It is not shown that" in said and "not shown for others" in said


def test_overfitting_gives_a_warning():
    X, y = times(shuffle=True)
    y = survival(y)
    model = make_pipeline(StandardScaler(), SMFSurvival(2, xi=1e-4, lam=1e-3)).fit(X, y)
    facts = gather(model, X, y, held_out=None)
    name, seen, unseen = facts.optimism
    assert name == "concordance" and seen == pytest.approx(model.score(X, y)) and seen - unseen > 0.1
    assert unseen == pytest.approx(concordance(y["event"].astype(float), y["time"], facts.refitted[:, 0]))


def test_good_fits_are_not_warned_about(of_numbers):
    assert of_numbers.facts.optimism is None


@pytest.mark.parametrize("kind", ["times", "numbers"])
def test_one_figure_of_held_out_samples_is_the_headline(kind, tmp_path):
    X, y = times() if kind == "times" else numbers()
    rng = np.random.default_rng(0)
    y = rng.permutation(y)  # so that training and held-out samples differ
    if kind == "times":
        search, name = SMFSurvivalCV([2], xi=[0.01], lam=[1e-3], cv=3), "concordance"
    else:
        search, name = SMFRegressorCV([2], xi=[0.1], lam=[1e-3], cv=3), "r2"
    search.fit(X, y)
    nested = nested_scores(search, X, y, n_splits=3, n_repeats=2, baselines=False)
    text = words(
        Case(search, X, y, options=QUICK)
        .write(tmp_path / "p.html", nested=nested)
        .read_text(encoding="utf-8")
    )
    shown = f"{nested.summary[name]['mean']:.3f}".replace("-", "−")
    said = re.search(r"in the training samples and (\S+) in held-out samples \(the headline", text)
    assert said[1] == shown and nested.verdict.headline in text
    assert "all folds together; the headline in the tab Result is a mean over folds" in text
    assert "Figures are means over folds" in text
