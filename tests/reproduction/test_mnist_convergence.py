"""Semi-synthetic MNIST with the paper's settings."""

import pytest
from tests.reproduction.small_study import small_study

from reproduction import Setting, mnist_convergence
from reproduction.convergence.study import run_study


@pytest.fixture
def given(monkeypatch):
    """What the experiment wants to run; a smaller study runs in its place."""
    runs = run_study(small_study(iterations=8), lambda *_: None)
    studies = []
    monkeypatch.setattr(mnist_convergence, "run_study", lambda study, _: studies.append(study) or runs)
    return studies


@pytest.mark.parametrize("quick", [True, False], ids=["quick", "full"])
def test_settings_are_the_papers(quick, data_dir, given):
    outcome = mnist_convergence.run(Setting(data_dir=data_dir, quick=quick))
    (study,) = given
    assert study.X.shape == (500, 784)
    assert (study.rank, study.lam, study.covariates) == (2, 2.0, None)
    assert (study.starts, tuple(study.xis)) == ((2, (1, 5, 20)) if quick else (10, (0.1, 1, 5, 10, 20)))
    assert set(outcome.tables) == {"", "rates"}
