"""The defaults of a command equal those of Python, except for one table in the docs."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline
from tests.cli.command import cohort, superfactor

from superfactor import SMFClassifierCV
from superfactor.cli.commands.learning import search_for
from superfactor.cli.options import Settings
from superfactor.tables import read_study

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
SECTION = re.search(r"## The same in Python\n(.*?)\n## ", PAGE, flags=re.DOTALL).group(1)
DIFFERENT = set(re.findall(r"^\| `(\w+)` \|", SECTION, flags=re.MULTILINE))


def search_of(table, folder, settings=None, **roles):
    table.to_csv(folder / "t.csv", index=False)
    samples = read_study(folder / "t.csv", target="status", id="patient", **roles)
    return search_for(samples, settings or Settings(), samples.y)


def differing(search):
    ours, theirs = search.get_params(deep=False), SMFClassifierCV().get_params(deep=False)
    assert list(ours) == list(theirs)
    return {name for name, value in ours.items() if value != theirs[name]}


def test_a_plain_table(tmp_path):
    search = search_of(cohort(), tmp_path, drop=("sex", "age"))
    assert differing(search) == {"cv", "random_state"}
    assert differing(search) < DIFFERENT
    status = cohort()["status"].to_numpy()
    theirs = StratifiedKFold(5, shuffle=True, random_state=0).split(status, status)
    for (train, test), own in zip(search.cv, theirs, strict=True):
        assert train.tolist() == own[0].tolist() and test.tolist() == own[1].tolist()


def test_the_table_of_the_docs_is_complete(tmp_path):
    table = cohort().assign(batch=np.arange(len(cohort())) % 3)
    table.loc[3, "gene2"] = np.nan
    roles = {"covariates": ("age",), "drop": ("sex",)}
    search = search_of(table, tmp_path, adjust=("batch",), **roles)
    assert differing(search) == DIFFERENT
    assert isinstance(search.preprocess, Pipeline)
    assert list(search.preprocess.named_steps) == ["imputer", "adjuster", "scaler"]
    plain = search_of(table.drop(columns="batch"), tmp_path, **roles)
    assert differing(plain) == {"cv", "random_state", "covariate_columns"}
    centred = search_of(cohort(), tmp_path, Settings(standardize=False), **roles)
    assert centred.preprocess == "center"


@pytest.mark.slow
def test_the_code_of_the_docs_gives_the_output_of_the_command(tmp_path, capsys):
    table = cohort(n=40, p=6).drop(columns=["sex", "age", "patient"])
    table.to_csv(tmp_path / "t.csv", index=False)
    done = superfactor(
        *("fit", tmp_path / "t.csv", "--target", "status", "--out", tmp_path / "m", "--no-stable", "--json")
    )
    code = re.search(r"```python\n(.*?)```", SECTION, flags=re.DOTALL).group(1)
    names = {"X": table.filter(like="gene").to_numpy(), "y": table["status"].to_numpy(dtype=str)}
    exec(code, names)
    verdict = done.json["verdict"]
    told = [verdict["headline"], *verdict["sentences"], *verdict["advice"]]
    assert capsys.readouterr().out.splitlines() == told
    best = names["search"].best_params_
    assert best == pytest.approx({name: done.json["params"][name] for name in best})
