"""`superfactor demo`: the whole job, nothing to prepare."""

import re

import numpy as np
import pandas as pd
import pytest
from tests.cli.command import refused, superfactor

from superfactor.cli import model_file
from superfactor.datasets import load_prostate


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "superfactor-demo"
    return folder, superfactor("demo", "--out", folder)


def test_says_factors_accuracy_and_proof(demo):
    folder, done = demo
    assert done.code == 0, done
    assert "Singh et al." in done.err  # where the table comes from
    for words in (
        "102 (normal: 50, tumour: 52)",
        "log-odds of tumour",
        "background",
        "On samples not seen",
        "PCA+LR",
        "Better than guessing",
        "In three sentences:",
    ):
        assert words in done.out
    assert "report.html" in "".join(done.out.split())  # long names of files are folded
    proven = model_file.load(folder / "model.skops").estimator[-1].certificate_.statement
    assert proven in " ".join(done.out.split())


def test_leaves_table_model_and_page(demo):
    folder, _ = demo
    assert sorted(p.name for p in folder.iterdir()) == [
        "model.skops",
        "prostate.csv",
        "report.html",
    ]
    data = load_prostate()
    written = pd.read_csv(folder / "prostate.csv")
    np.testing.assert_array_equal(written.iloc[:, 1:].to_numpy(), data.X)
    assert list(written.columns) == ["tissue", *data.features]


def test_factors_beat_as_many_principal_components(demo):
    _, done = demo
    words = " ".join(done.out.split())
    ours, plain = (
        int(found) for found in re.findall(r"(?:tissue in|labels, reach) (\d+) %", words)
    )
    assert ours > plain + 15


def test_what_it_leaves_can_be_used(demo, tmp_path):
    folder, _ = demo
    words = (
        "predict",
        folder / "model.skops",
        folder / "prostate.csv",
        "--out",
        tmp_path / "p.csv",
    )
    assert superfactor(*words).code == 0
    predicted = pd.read_csv(tmp_path / "p.csv")["predicted"]
    assert (predicted == load_prostate().y).mean() > 0.95


def test_a_file_in_the_way(tmp_path):
    (tmp_path / "x").write_text("")
    assert "a file; the name of a folder is required" in refused("demo", "--out", tmp_path / "x")
