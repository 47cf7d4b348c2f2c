"""Models that version 1.1 wrote load, and predict what they predicted then."""

import gzip

import numpy as np
import pandas as pd
import pytest
from tests.cli.command import superfactor as command
from tests.saving import fixtures

import superfactor
from superfactor import saving

FROM_PYTHON = sorted(
    path.stem for path in fixtures.FOLDER.glob("*.skops") if path.stem not in fixtures.COMMANDS
)


@pytest.fixture(scope="module")
def expected():
    with np.load(fixtures.FOLDER / "expected.npz") as kept:
        return {name: kept[name] for name in kept.files}


def agree(name, found, expected):
    """Compare the answers of a model with those in the file."""
    kept = {k.split(": ", 1)[1]: v for k, v in expected.items() if k.split(": ", 1)[0] == name}
    assert set(found) >= set(kept) != set()
    for method, values in kept.items():
        if values.dtype.kind == "U":
            np.testing.assert_array_equal(found[method], values)
        else:
            np.testing.assert_allclose(found[method], values, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", FROM_PYTHON)
def test_models_from_python(name, expected):
    _, X, _, given = fixtures.studies()[name]
    saved = saving.read(fixtures.FOLDER / f"{name}.skops")
    assert saved.about["versions"]["superfactor"] == "1.1.0"
    agree(name, fixtures.answers(saved.model, X, given), expected)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", fixtures.COMMANDS)
def test_models_of_the_command_line(name, expected):
    saved = saving.read(fixtures.FOLDER / f"{name}.skops")
    agree(name, fixtures.answers(saved.model, fixtures.studied(saved, name), {}), expected)


def test_commands_use_them(tmp_path, expected):
    tables = ("--phenotype", fixtures.FOLDER / "patients.csv", "--id", "patient")
    model, rna = fixtures.FOLDER / "fit-classes.skops", fixtures.FOLDER / "rna.csv"
    done = command("predict", model, rna, *tables, "--out", tmp_path / "p.csv")
    assert done.code == 0, done
    table = pd.read_csv(tmp_path / "p.csv")
    assert table["predicted"].tolist() == expected["fit-classes: predict"].tolist()
    assert command("factors", model, "--json").json["factors"]


@pytest.mark.parametrize("key", fixtures.RECORDS)
def test_records_in_an_anndata(key, expected, tmp_path):
    anndata = pytest.importorskip("anndata")
    from superfactor.anndata import tl

    packed = (fixtures.FOLDER / "cells.h5ad.gz").read_bytes()
    (tmp_path / "cells.h5ad").write_bytes(gzip.decompress(packed))
    adata = anndata.read_h5ad(tmp_path / "cells.h5ad")
    tl.project(adata, adata, key=key)
    np.testing.assert_allclose(
        adata.obsm[f"X_{key}"], expected[f"record of {key}: scores"], rtol=1e-4, atol=1e-4
    )


def test_every_model_is_there():
    """No one has deleted a file whose model does not load any more."""
    assert len(FROM_PYTHON) == len(fixtures.studies()) == 27
    assert superfactor.load(fixtures.FOLDER / "mixed.skops").n_components == 2
