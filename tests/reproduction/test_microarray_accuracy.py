"""The table of accuracies on microarrays."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from reproduction import microarray_accuracy
from reproduction.microarray_accuracy import PAPER, one_split
from superfactor.datasets import Microarray


@pytest.mark.slow
def test_quick_form_has_every_method_twice(quick_run, data_dir):
    outcome, steps, notes = quick_run("microarray-accuracy", data_dir)
    numbers = outcome.tables[""]
    assert set(PAPER["Breast_GSE70947"]) <= set(numbers["method"]) | {"CNN", "FFNN"}
    assert (numbers.groupby(["table", "method"]).size() == 2).all()
    assert numbers["accuracy"].between(0, 1).all()
    assert steps[0][0] == 0 and steps[-1][0] == steps[-1][1]
    assert any(numbers["table"][0] in note for note in notes)


def test_the_held_out_half_has_no_effect(monkeypatch):
    """Other held-out samples change neither choices nor models."""
    every = microarray_accuracy.methods
    few = ("SMF-W (BCD)", "MF-LR", "SVM", "LDA", "PLS-DA", "ridge", "SMF")
    monkeypatch.setattr(
        microarray_accuracy, "methods", lambda *args: [m for m in every(*args) if m.name in few]
    )
    rng = np.random.default_rng(0)
    y = np.repeat(["sick", "well"], 12)
    X = rng.standard_normal((24, 30))
    X[:12, :4] += 4.0
    table = Microarray("t", X, y, np.arange(30).astype(str), "made up")
    _, held_out = train_test_split(np.arange(24), test_size=0.5, stratify=y, random_state=0)
    other = X.copy()
    other[held_out] = rng.standard_normal((12, 30))
    first, second = (one_split(replace(table, X=values), 0, 3, True) for values in (X, other))
    assert [row["chosen"] for row in first] == [row["chosen"] for row in second]
    assert max(row["accuracy"] for row in second) < 0.9 < max(row["accuracy"] for row in first)
