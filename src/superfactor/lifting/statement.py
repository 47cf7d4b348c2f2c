"""From arrays in the user's units to a lifted problem in its own."""

from __future__ import annotations

from superfactor._arrays import Array, zeros_like_of
from superfactor.lifting.feature import FeatureProblem
from superfactor.lifting.filter import FilterProblem
from superfactor.lifting.problem import LiftedProblem
from superfactor.lifting.sampled import in_own_units
from superfactor.losses import Loss
from superfactor.spectrum import DataMatrix

MODELS = {"filter": FilterProblem, "feature": FeatureProblem}


def state_problem(
    model: str,
    X: Array,
    targets: Array,
    loss: Loss,
    *,
    xi: float,
    lam: float,
    covariates: Array | None = None,
    fit_intercept: bool = True,
    sample_weight: Array | None = None,
    class_weight: Array | None = None,
) -> LiftedProblem:
    """The problem `model` ("filter" or "feature") for data in the user's units.

    Parameters
    ----------
    X : (n, p), dense or SciPy-sparse
    targets : (n, κ), one-hot without class 0, or real values
    xi, lam : ξ > 0 and λ ≥ 0 of the paper's F, a sum over samples
    covariates : (n, q) or None; the intercept is added here, as an unpenalised column of ones
    sample_weight : (n,) positive, multiplies every term of a sample (a sample of weight 0 must be left out)
    class_weight : (n,) positive, multiplies the loss of a sample only
    """
    data = DataMatrix(X, sample_weight)
    low, high = (1e-140, 1e140) if "64" in str(data.dtype) else (1e-16, 1e18)
    if not low < data.scale < high:
        raise ValueError(
            f"X has values of size {data.scale:.0e}; allowed: between {low:.0e} and {high:.0e}, beyond "
            f"which squares leave the range of {data.dtype}. Rescale X."
        )
    xp, n = data.xp, data.shape[0]

    def array(x: Array) -> Array:
        return xp.asarray(x, dtype=data.dtype, device=data.device)

    targets = array(targets)
    ones = xp.ones((n, 1), dtype=data.dtype, device=data.device)
    columns = [] if covariates is None else [array(covariates)]
    q = 0 if covariates is None else int(columns[0].shape[1])
    if fit_intercept:
        columns.append(ones)
    ridge = array([lam] * q + [0.0] * int(fit_intercept))
    weight = ones
    if sample_weight is not None:
        weight = weight * array(sample_weight)[:, None]
    if class_weight is not None:
        weight = weight * array(class_weight)[:, None]
    own_xi, own_lam = in_own_units(model, data.scale, xi, lam)
    return MODELS[model](
        data=data,
        targets=targets,
        covariates=xp.concat(columns, axis=1) if columns else zeros_like_of(targets, n, 0),
        covariate_ridge=ridge,
        loss=loss,
        loss_weight=weight,
        root_weight=data.root_weight,
        xi=own_xi,
        lam=own_lam,
    )


def restate(problem: LiftedProblem, xi: float, lam: float) -> LiftedProblem:
    """The same problem at other weights ξ and λ > 0 in the user's units, without another look at X."""
    return problem.reweighted(*in_own_units(problem.name, problem.data.scale, xi, lam))
