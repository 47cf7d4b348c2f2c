"""Text that a spreadsheet would compute stays text in every written table, and reads back unchanged."""

import csv

import numpy as np
import pandas as pd
import pytest
from tests.cli.command import QUICK, superfactor

from superfactor.tables import open_table, read_study

GENES = ["=SUM(A1)", "@gene", "-alpha", "+beta(2)", "'=quoted", "-", "+1", "it's", "5'-UTR", "-1.5"]
CLASSES = ["=case", "-ve"]
IDS = ['=HYPERLINK("x")', "-7b", "'-7b", "@S", "+33 6", "-12", "- 3", "'", "''=1"]


def study():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(45, len(GENES)))
    data = pd.DataFrame(X, columns=GENES)
    data.insert(0, "=kind", np.where(X[:, 0] + X[:, 2] > 0, *CLASSES))
    data.insert(0, "@id", [*IDS, *(f"s{i}" for i in range(45 - len(IDS)))])
    return data


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("openpyxl")
    folder = tmp_path_factory.mktemp("spreadsheets")
    study().to_parquet(folder / "t.parquet")
    roles = ("--target", "=kind", "--id", "@id", *QUICK, "--out", folder / "m.skops")
    for ending in ("csv", "tsv", "xlsx", "parquet"):
        done = superfactor("fit", folder / "t.parquet", *roles, "--features-out", folder / f"f.{ending}")
        assert done.code == 0, done
        words = ("predict", folder / "m.skops", folder / "t.parquet", "--out", folder / f"p.{ending}")
        assert superfactor(*words).code == 0
    return folder


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "parquet"])
def test_read_back_unchanged(folder, ending):
    features = open_table(folder / f"f.{ending}", text=["feature"]).frame
    assert features["feature"].tolist() == GENES
    predictions = open_table(folder / f"p.{ending}", text=["@id"]).frame
    assert predictions["@id"].tolist() == study()["@id"].tolist()
    assert set(predictions["predicted"]) == set(CLASSES)


@pytest.mark.parametrize("name", ["f.csv", "p.csv", "f.tsv", "p.tsv"])
def test_no_cell_of_a_csv_file_is_computed(folder, name):
    with open(folder / name, newline="") as file:
        cells = [c for row in csv.reader(file, delimiter="\t" if name.endswith("tsv") else ",") for c in row]
    begins = [cell for cell in cells if cell[:1] in ("=", "@", "\t", "\r")]
    begins += [
        cell for cell in cells if cell[:1] in ("+", "-") and any(map(str.isalpha, cell.replace("e", "")))
    ]
    assert not begins
    assert {"-", "+1", "it's", "5'-UTR", "-1.5"} <= {*cells} or name.startswith("p")
    assert {"-12", "- 3", "'"} <= {*cells} or name.startswith("f")


@pytest.mark.parametrize("name", ["f.xlsx", "p.xlsx"])
def test_no_cell_of_a_workbook_is_a_formula(folder, name):
    openpyxl = pytest.importorskip("openpyxl")
    cells = [cell for row in openpyxl.load_workbook(folder / name).active for cell in row]
    assert not [cell.value for cell in cells if cell.data_type == "f"]
    assert all(cell.quotePrefix for cell in cells if str(cell.value).startswith("="))
    assert any(cell.data_type == "n" for cell in cells)


def test_samples_of_predictions_join_their_table(folder, tmp_path):
    """The ids of written predictions are those of the table, and new tables written by us fit the model."""
    data = study()
    data[["@id", "=kind"]].to_parquet(tmp_path / "people.parquet")
    joined = read_study(folder / "p.csv", phenotype=tmp_path / "people.parquet", target="=kind", id="@id",
                        drop=["predicted", "trained_on"])  # fmt: skip
    assert sorted(joined.ids) == sorted(data["@id"])
