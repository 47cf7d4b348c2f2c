"""Both convergence experiments run with the paper's settings."""

import pytest
from tests.reproduction.small_study import small_study

from reproduction import Setting, job_convergence, mnist_convergence
from reproduction.convergence.study import run_study


@pytest.fixture(scope="module")
def runs():
    """The curves of a smaller study, in place of the study that the experiment runs."""
    return run_study(small_study(iterations=8), lambda *_: None)


def given(experiment, quick, data_dir, runs, monkeypatch):
    studies = []
    monkeypatch.setattr(experiment, "run_study", lambda study, _: studies.append(study) or runs)
    outcome = experiment.run(Setting(data_dir=data_dir, quick=quick))
    assert set(outcome.tables) == {"", "rates"}
    (study,) = studies
    return study


@pytest.mark.parametrize("quick", [True, False], ids=["quick", "full"])
def test_job_postings(quick, data_dir, runs, monkeypatch):
    study = given(job_convergence, quick, data_dir, runs, monkeypatch)
    n, p = study.X.shape
    assert (n, p) == (300, 200) if quick else n >= 400
    assert study.y.shape == (n,) and study.covariates.shape == (n, 72)
    assert (study.rank, study.lam, study.starts) == (20, 2.0, 2 if quick else 10)


@pytest.mark.parametrize("quick", [True, False], ids=["quick", "full"])
def test_mnist(quick, data_dir, runs, monkeypatch):
    study = given(mnist_convergence, quick, data_dir, runs, monkeypatch)
    assert study.X.shape == (500, 784)
    assert (study.rank, study.lam, study.covariates) == (2, 2.0, None)
    assert (study.starts, tuple(study.xis)) == ((2, (1, 5, 20)) if quick else (10, (0.1, 1, 5, 10, 20)))
