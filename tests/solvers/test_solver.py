"""Solvers support what they declare."""

import inspect

import pytest
from tests.problems import example

from superfactor.constraints import Box, ConvexSet, FrobeniusBall, NonNegative, WholeSpace
from superfactor.estimators.fitting import SOLVER_OPTIONS, reads_passes
from superfactor.solvers import SOLVERS, bcd, lpgd, newton

SETS = (WholeSpace(), NonNegative(), Box(-1, 1), FrobeniusBall(1.0))


def test_solvers_by_public_name():
    assert [SOLVERS[name].solve.__module__ for name in ("lifted-newton", "lpgd", "bcd")] == [
        module.solve.__module__ for module in (newton, lpgd, bcd)
    ]


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_options_are_those_that_solve_takes(solver):
    declared = inspect.signature(solver.solve).parameters
    assert solver.takes == SOLVER_OPTIONS & set(declared)
    assert bool(solver.constraints) == ("constraint" in declared)
    problem, _ = example("filter", 9, 5, 1)
    found = solver.solve(
        problem,
        2,
        max_iter=3,
        tol=0.0,
        random_state=0,
        callback=None,
        **{"constraint": WholeSpace()} if solver.constraints else {},
    )
    assert found.factors.components.shape == (5, 2)


def test_constraints_and_passes():
    allowed = {name: [solver.allows(each) for each in SETS] for name, solver in SOLVERS.items()}
    assert allowed == {
        "lifted-newton": [True, False, False, False],
        "lpgd": [True] * len(SETS),
        "bcd": [True, True, False, False],
    }
    assert SOLVERS["lpgd"].constraints == (ConvexSet,)
    assert [name for name in SOLVERS if reads_passes(SOLVERS[name], None)] == ["lifted-newton"]
    newton_passes = [reads_passes(SOLVERS["lifted-newton"], how) for how in ("residual", "ascent")]
    assert newton_passes == [True, False]
