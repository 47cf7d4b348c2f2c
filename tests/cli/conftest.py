import pytest
from tests.cli.command import QUICK, cohort, roles, superfactor


@pytest.fixture(scope="session")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "cohort.csv"
    cohort().to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def model(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.skops"
    done = superfactor("fit", table, *roles(), *QUICK, "--out", path)
    assert done.code == 0, done
    return path
