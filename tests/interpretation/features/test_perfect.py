"""A feature without variance inside the classes is the strongest one."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from superfactor import SMFClassifier
from superfactor.interpretation import class_features, feature_effects
from superfactor.report import write_report

RNG = np.random.default_rng(0)
Y = np.repeat(["a", "b"], 20)


def table(**columns):
    noise = RNG.standard_normal((40, 8)) + 0.8 * (Y == "b")[:, None]
    return pd.DataFrame(noise, columns=[f"g{j}" for j in range(8)]).assign(**columns)


def effects(X, y=Y):
    model = make_pipeline(StandardScaler(), SMFClassifier(2, lam=0.1)).fit(X, y)
    return model, feature_effects(model, X, y, positive="b" if set(y) == {"a", "b"} else None)


@pytest.mark.parametrize("low", [0, 0.1, 1e6])
@pytest.mark.parametrize("noise", [0, 1e-10])
def test_it_is_perfect_and_first(low, noise, tmp_path):
    code = low + 0.3 * (Y == "b") + noise * RNG.standard_normal(40)
    X = table(code=code)
    model, found = effects(X)
    row = found.set_index("feature").loc["code"]
    assert row["perfect"]
    assert row["difference_in_sd"] == np.inf
    assert row["auc"] == 1
    assert found["perfect"].sum() == 1
    assert np.isfinite(found["difference_in_sd"][:8]).all()
    record = json.loads(found.to_json(orient="records"))[8]
    assert record["difference_in_sd"] is None
    assert record["perfect"] is True
    markers = class_features(model, X, Y)
    assert markers.loc[markers["class"] == "b", "feature"].iloc[0] == "code"
    page = write_report(tmp_path / "p.html", model, X, Y, stable=False, nearness=False).read_text()
    rows = page[page.index('id="effects-table"') :]
    rows = rows[rows.index("<tbody>") :]
    assert rows.index("code") < rows.index("g0")
    assert "perfect" in rows[: rows.index("</tr>")]


def test_variance_in_one_class_is_finite():
    own = np.where(Y == "a", 0.0, 1 + RNG.random(40))
    _, found = effects(table(own=own, constant=3.0))
    found = found.set_index("feature")
    assert not found["perfect"].any()
    assert 1 < abs(found.loc["own", "difference_in_sd"]) < 20
    assert found.loc["constant", "difference_in_sd"] == 0


def test_a_class_of_one_sample_has_no_perfect_feature():
    y = np.array(["a"] + ["b"] * 39)
    _, found = effects(table(one=(y == "a").astype(float)), y)
    assert not found["perfect"].any()
    assert np.isfinite(found["difference_in_sd"]).all()


def test_several_classes():
    y = np.resize(["a", "b", "c"], 40)
    code = pd.Series(y).map({"a": 0.0, "b": 1.0, "c": 2.0})
    _, found = effects(table(code=code.to_numpy(), only_c=(y == "c") * 1.0), y)
    found = found.set_index(["class", "feature"])["perfect"]
    assert found[found].index.tolist() == [("a", "code"), ("c", "code"), ("c", "only_c")]
