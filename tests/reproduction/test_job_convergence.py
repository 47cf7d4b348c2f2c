"""Job postings with the paper's settings."""

import pytest
from tests.reproduction.small_study import small_study

from reproduction import Setting, job_convergence
from reproduction.convergence.study import run_study


@pytest.fixture
def given(monkeypatch):
    """What the experiment wants to run; a smaller study runs in its place."""
    runs = run_study(small_study(iterations=8), lambda *_: None)
    studies = []
    monkeypatch.setattr(job_convergence, "run_study", lambda study, _: studies.append(study) or runs)
    return studies


@pytest.mark.parametrize("quick", [True, False], ids=["quick", "full"])
def test_settings_are_the_papers(quick, data_dir, given):
    notes = []
    outcome = job_convergence.run(Setting(data_dir=data_dir, quick=quick, note=notes.append))
    (study,) = given
    n, p = study.X.shape
    assert (n, p) == (300, 200) if quick else n >= 400
    assert study.y.shape == (n,)
    assert study.covariates.shape == (n, 72)
    assert (study.rank, study.lam, study.starts) == (20, 2.0, 2 if quick else 10)
    assert notes[0].startswith("job postings: ")
    assert set(outcome.tables) == {"", "rates"}
