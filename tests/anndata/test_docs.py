"""The code of the scanpy page runs and prints what the page shows."""

import doctest
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/scanpy.md"


def test_the_page_runs(tmp_path, monkeypatch):
    pytest.importorskip("anndata")
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    with plt.rc_context():
        failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    plt.close("all")
    assert tried > 15 and failed == 0
    assert (tmp_path / "cells.png").exists() and (tmp_path / "factors.png").exists()
