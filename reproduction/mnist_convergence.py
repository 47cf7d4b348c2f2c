"""Figure 2a: training loss of Algorithm 1 against seconds on semi-synthetic MNIST.

The paper: p = 784, n = 500, r = 2, two classes, noise σ = 0.5, λ = 2, τ = 0.01, ξ from 0.1 to 20, means and
standard deviations over ten runs. It sees exponential decay, faster for larger ξ, and takes this for its
Theorem 1.

Here the same, with three things added. Below the loss stands F − F*, where an exponential is a straight line;
F* is the default solver's, with its certificate. Beside τ = 0.01, at which the loss of the filter model does
not fall (docs/errata.md §9: L is far above 1/τ), stands τ = 1/L; and τ = 2/(μ+L), inside the theorem's
window, where there is one. Rates are fitted wherever the loss falls, and put beside the theorem's ρ and
beside what a gradient step does to the reconstruction part alone (see `convergence.study`).

Open choices: atoms are means of ten images (`semi_synthetic`); no intercept, since q = 0; factors at the
start as the authors' release draws them, uniform; a solver's clock starts at the raw data.
"""

from __future__ import annotations

from reproduction.convergence.panels import curves_table, draw
from reproduction.convergence.semi_synthetic import semi_synthetic
from reproduction.convergence.study import XI, Study, rates_table, run_study
from reproduction.convergence.verdict import verdict
from reproduction.data import load_mnist
from reproduction.experiment import Outcome, Setting

SAMPLES, SIGMA, RANK = 500, 0.5, 2


def run(setting: Setting) -> Outcome:
    """The figure, its curves, fitted rates and the comparison."""
    data = semi_synthetic(load_mnist(setting.data_dir), n=SAMPLES, sigma=SIGMA, seed=setting.seed)
    study = Study(
        X=data.X,
        y=data.y,
        covariates=None,
        rank=RANK,
        xis=(1.0, 5.0, 20.0) if setting.quick else XI,
        starts=2 if setting.quick else 10,
        iterations=40 if setting.quick else 500,
        method="residual" if setting.quick else "ascent",
        seed=setting.seed,
    )
    runs = run_study(study, setting.progress)
    title = (
        f"Algorithm 1 on semi-synthetic MNIST: n = {SAMPLES}, p = {data.X.shape[1]}, r = {RANK}, "
        f"σ = {SIGMA:g}, λ = {study.lam:g}; {study.starts} random starts, {study.iterations} iterations"
    )
    tables = {"": curves_table(runs), "rates": rates_table(runs)}
    return Outcome({"": draw(runs, title)}, tables, verdict(runs))
