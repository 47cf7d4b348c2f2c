import pytest
from tests.cli.command import QUICK, cohort, roles, superfactor

from superfactor.selection.evaluation import external


@pytest.fixture(scope="module", autouse=True)
def few_draws():
    """A tenth of the bootstrap draws: tests in this folder check what is shown, not how exact it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(external, "DRAWS", 200)
        yield


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
