"""`superfactor demo`: the whole job, nothing to prepare."""

import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from tests.cli.command import refused, superfactor

from superfactor.cli import model_file


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "superfactor-demo"
    return folder, superfactor("demo", "--out", folder)


def test_says_factors_accuracy_and_proof(demo):
    folder, done = demo
    assert done.code == 0, done
    assert done.err == ""
    for words in (
        "569 (benign: 357, malignant: 212)",
        "concave points",
        "On samples not seen",
        "PCA+LR",
        "Better than guessing",
    ):
        assert words in done.out
    assert "report.html" in "".join(done.out.split())  # long names of files are folded
    proven = model_file.load(folder / "model.skops").estimator[-1].certificate_.statement
    assert proven in " ".join(done.out.split())


def test_leaves_table_model_and_page(demo):
    folder, _ = demo
    assert sorted(p.name for p in folder.iterdir()) == [
        "breast-cancer.csv",
        "model.skops",
        "report.html",
    ]
    data = load_breast_cancer(as_frame=True)
    written = pd.read_csv(folder / "breast-cancer.csv")
    pd.testing.assert_frame_equal(written.iloc[:, 1:], data.data)


def test_what_it_leaves_can_be_used(demo, tmp_path):
    folder, _ = demo
    words = (
        "predict",
        folder / "model.skops",
        folder / "breast-cancer.csv",
        "--out",
        tmp_path / "p.csv",
    )
    assert superfactor(*words).code == 0
    truth = load_breast_cancer()
    predicted = pd.read_csv(tmp_path / "p.csv")["predicted"]
    assert (predicted == truth.target_names[truth.target]).mean() > 0.95


def test_a_file_in_the_way(tmp_path):
    (tmp_path / "x").write_text("")
    assert "a file; the name of a folder is required" in refused("demo", "--out", tmp_path / "x")
