"""Equal problems have the same directions, the same starts and the same value without a proof."""

import numpy as np
import pytest
from tests.problems import MODELS
from tests.subspace.points import subspace

from superfactor.losses import CoxPartialLikelihood, SquaredError, resolve_link
from superfactor.problem import state
from superfactor.solvers import newton
from superfactor.solvers.newton.directions import Directions, own_directions

every_model = pytest.mark.parametrize("model", MODELS)


class Data:
    """A table and its outcome, before anything is stated; every change gives an equal problem."""

    def __init__(self, outcome, seed, n=16, p=9):
        rng = np.random.default_rng(seed)
        self.outcome, self.time, self.weight = outcome, None, None
        self.X = rng.standard_normal((n, p)) * np.exp(-0.2 * np.arange(p))
        if "class" in outcome:
            classes = 2 if outcome == "two classes" else 4
            self.Y = np.eye(classes)[rng.permutation(n) % classes][:, 1:]
        elif outcome == "times":
            self.time = rng.exponential(size=n).round(1)
            self.Y = (rng.random((n, 1)) < 0.7).astype(float)
        else:
            self.Y = rng.standard_normal((n, 1 if outcome == "a number" else 2))
        self.unit = 1.0

    def changed(self, **parts):
        new = object.__new__(Data)
        new.__dict__ = {**self.__dict__, **parts}
        return new

    def rows(self, index):
        time = None if self.time is None else self.time[index]
        return self.changed(X=self.X[index], Y=self.Y[index], time=time)

    def stated(self, model, xi=0.03, lam=1e-3):
        if self.outcome == "times":
            loss = CoxPartialLikelihood(self.time, self.Y[:, 0], self.weight)
        elif "class" in self.outcome:
            loss = resolve_link("logistic", self.Y.shape[1])
        else:
            loss = SquaredError()
        return state(
            model,
            self.unit * self.X,
            self.Y,
            loss,
            xi=xi / self.unit**2,
            lam=lam * (self.unit**2 if model == "filter" else 1.0),
            fit_intercept=self.outcome != "times",
            sample_weight=self.weight,
        )

    def equals(self):
        """Equal problems."""
        n, p = self.X.shape
        rng = np.random.default_rng(1)
        yield "samples in another order", self.rows(rng.permutation(n))
        yield "features in another order", self.changed(X=self.X[:, rng.permutation(p)])
        yield "another unit", self.changed(unit=37.0)
        if "number" in self.outcome:
            yield "another zero", self.changed(Y=self.Y + 30.0)
        if self.Y.shape[1] > 1:
            yield "outputs in another order", self.changed(Y=self.Y[:, ::-1].copy())
        if self.outcome == "two classes":
            yield "the classes exchanged", self.changed(Y=1 - self.Y)

    def counted(self):
        """Samples with weights, and the same samples repeated."""
        count = np.arange(len(self.X)) % 3 + 1
        return self.changed(weight=count.astype(float)), self.rows(np.repeat(np.arange(len(count)), count))


@every_model
def test_directions_are_singular_vectors_and_the_gradient_of_the_loss(model):
    data = Data("four classes", 0)
    inside = subspace(data.stated(model), 2)
    found = Directions.of(inside)
    D = found.data.T @ inside.D @ found.data
    np.testing.assert_allclose(D, np.diag(np.diag(D)), atol=1e-10)
    assert np.all(np.diff(np.diag(D)) <= 0) and found.data.shape[1] == 9
    # Without factors the class shares are predicted; the gradient comes from the residuals.
    E = data.Y.mean(axis=0) - data.Y
    Phi = inside.basis.features.array()
    pulled = Phi.T @ E
    np.testing.assert_allclose(np.linalg.norm(found.labels, axis=0), 1.0)
    Q = np.linalg.qr(found.labels)[0]
    assert Q.shape[1] == 3
    rest = pulled - Q @ (Q.T @ pulled)
    assert np.linalg.norm(rest) < 1e-5 * np.linalg.norm(pulled)
    gamma = np.log(data.Y.mean(axis=0) / (1 - data.Y.sum(axis=1).mean()))
    np.testing.assert_allclose(found.gamma[0], gamma, atol=1e-4)


@every_model
def test_near_rotates_one_direction_by_the_angle(model):
    inside = subspace(Data("four classes", 0).stated(model), 2)
    point, found = inside.polish(inside.leading()), Directions.of(inside)
    for labels in (True, False):
        rng, angles = np.random.default_rng(0), []
        for far in (1e-3, 0.1, 3.0):
            W = found.near(own_directions(inside, point), rng, far, labels)
            np.testing.assert_allclose(W.T @ W, np.eye(2), atol=1e-12)
            cosines = np.linalg.svd(W.T @ point.W, compute_uv=False)
            assert cosines[0] == pytest.approx(1.0, abs=1e-9)  # one direction is kept
            angles.append(np.arccos(np.clip(cosines[1], 0, 1)))
        assert angles[0] < 2e-3 < angles[1] < 0.2 < angles[2]


@pytest.mark.parametrize(
    ("outcome", "model"), [("two classes", "filter"), ("two numbers", "filter"), ("times", "feature")]
)
def test_equal_problems_end_at_the_same_value(model, outcome):
    data = Data(outcome, 0)
    problem = data.stated(model, lam=1e-5)
    own = newton.solve(problem, 1)
    assert own.searched is not None  # without a proof
    size = own.objective - subspace(problem, 1).pca_value
    for name, equal in data.equals():
        found = newton.solve(equal.stated(model, lam=1e-5), 1)
        assert found.objective == pytest.approx(own.objective, abs=1e-6 * size), name
    weighted, repeated = (newton.solve(d.stated(model, lam=1e-5), 1) for d in data.counted())
    assert weighted.objective == pytest.approx(repeated.objective, abs=1e-6 * size)


@pytest.mark.parametrize(("outcome", "model"), [("two numbers", "filter"), ("two classes", "feature")])
def test_thorough_is_never_above_auto(model, outcome):
    """It tries the same starts first, then more."""
    problem = Data(outcome, 0, n=10, p=6).stated(model, lam=1e-4)
    auto, thorough = (newton.solve(problem, 2, search=search) for search in ("auto", "thorough"))
    size = auto.objective - subspace(problem, 2).pca_value
    assert thorough.objective <= auto.objective + 1e-9 * size
    if auto.searched is not None:
        assert thorough.searched.starts > auto.searched.starts
