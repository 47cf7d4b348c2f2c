"""`superfactor demo`: the whole job, nothing to prepare; and the pages that show what it prints."""

import html
import re

import numpy as np
import pandas as pd
import pytest
from tests.cli.command import refused, superfactor
from tools import samples

from superfactor import saving
from superfactor.datasets import load_t_cells

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """What it left, and what it printed in a terminal as wide as that of the pages."""
    folder = tmp_path_factory.mktemp("demo")
    printed = samples.printed("superfactor demo", folder)
    return folder / "superfactor-demo", printed


def test_says_factors_accuracy_and_proof(demo):
    folder, printed = demo
    for words in (
        "Zheng et al.",  # where the table comes from
        "192 (CD4: 95, CD8: 97)",
        "log-odds of CD8",
        "background",
        "Held-out performance",
        "PCA+LR",
        "Better than guessing",
        "Summary:",
    ):
        assert words in printed
    assert "report.html" in "".join(printed.split())  # long names of files are folded
    proven = saving.read(folder / "model.skops").model[-1].certificate_.statement
    assert proven in " ".join(printed.split())


def test_the_page_about_reading_shows_it(demo):
    (shown,) = samples.MARKED.findall((samples.ROOT / "docs" / "reading.md").read_text())
    assert samples.shape(shown) == samples.shape(f"$ superfactor demo\n{demo[1]}")


def test_the_paragraph_for_a_paper_is_its_own(demo):
    page = (demo[0] / "report.html").read_text(encoding="utf-8")
    (made,) = re.findall(r'<blockquote id="paragraph"[^>]*>(.*?)</blockquote>', page, re.DOTALL)
    shown = re.findall(r"^> (.*)$", (samples.ROOT / "docs" / "paper.md").read_text(), re.M)
    assert samples.shape(" ".join(shown)) == samples.shape(html.unescape(made))


def test_writes_table_model_and_page(demo):
    folder, _ = demo
    assert sorted(p.name for p in folder.iterdir()) == ["model.skops", "report.html", "t_cells.csv"]
    data = load_t_cells()
    written = pd.read_csv(folder / "t_cells.csv")
    np.testing.assert_array_equal(written.iloc[:, 1:].to_numpy(), data.X)
    assert list(written.columns) == ["type", *data.features]


def test_the_summary_names_genes_and_baselines(demo):
    words = " ".join(demo[1].split())
    ours, plain = (int(found) for found in re.findall(r"(?:correctly in|components reach) (\d+) %", words))
    assert ours > plain + 5
    higher, lower = re.search(r"CD8 cells have more ([^;]*); CD4 cells have more ([^.]*)\.", words).groups()
    data = load_t_cells()
    cd8 = data.y == "CD8"
    difference = data.X[cd8].mean(axis=0) - data.X[~cd8].mean(axis=0)
    difference = dict(zip(data.features, difference, strict=True))
    assert all(difference[gene] > 0 for gene in higher.split(", "))
    assert all(difference[gene] < 0 for gene in lower.split(", "))


def test_its_files_can_be_used(demo, tmp_path):
    folder, _ = demo
    words = ("predict", folder / "model.skops", folder / "t_cells.csv", "--out", tmp_path / "p.csv")
    assert superfactor(*words).code == 0
    predicted = pd.read_csv(tmp_path / "p.csv")["predicted"]
    assert (predicted == load_t_cells().y).mean() > 0.95


def test_a_file_with_the_name_of_the_folder(tmp_path):
    (tmp_path / "x").write_text("")
    assert "is a file; a folder is required" in refused("demo", "--out", tmp_path / "x")
