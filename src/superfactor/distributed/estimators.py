"""`DaskSMFClassifier` and `DaskSMFRegressor`: the same fit, its samples on the workers of a cluster."""

from __future__ import annotations

from typing import Any

from sklearn.metrics import accuracy_score, r2_score

from superfactor.distributed.base import DaskFactorization
from superfactor.estimators import SMFClassifier, SMFRegressor
from superfactor.estimators.targets import deviance_explained


class DaskSMFClassifier(DaskFactorization, SMFClassifier):
    """`SMFClassifier` for Dask arrays and DataFrames, its samples on the workers of a cluster.

    The same parameters, the same objective, the same optimum and certificate. Every worker loads its share of
    the samples once and keeps it; an evaluation is one small message to each worker and its answer. Where a
    worker is lost during the fit, its share is loaded again from its source on another one, which repeats the
    steps so far, and the fit goes on to the same answer, with a warning that says so.

    Parameters
    ----------
    n_components : int, default=2
        Number of factors.
    client : distributed.Client, default=None
        None is Dask's default client.
    **options
        Those of `SMFClassifier`: ``model``, ``xi``, ``lam`` and so on. Only the default
        solver runs on a cluster: ``constraint`` and ``device`` have to be None, and there is no
        ``certify="ascent"``.

    Attributes
    ----------
    components_, patterns_, coef_, factor_coef_, classes_, objective_, certificate_, … :
        Those of `SMFClassifier`, in NumPy. What describes the factors (``patterns_``, ``score_mean_``,
        ``score_covariance_``, ``feature_scale_``, ``factor_turn_``, ``factor_contribution_``) is summed on
        the workers in one pass after the fit.
    codes_ : Dask array of shape (n_samples, n_components)
        Codes of the training samples. Filter model: computed from X when they are asked for. Feature model:
        they depend on the labels too, so the client keeps them, in memory.
    recovered_ : list of str
        A line for every share that was lost with its worker and loaded again.

    Notes
    -----
    X may be a Dask array (dense or of SciPy-sparse chunks, float64 or float32) or a Dask DataFrame; y,
    covariates and sample weights Dask collections or arrays in memory; samples may have no label. All are cut
    where X is; chunks of rows are what workers share, so there should be one at least for each worker,
    and the share of a worker has to fit into its memory. Numbers of rows that Dask does not know, as those of
    DataFrames, are counted first.
    ``predict``, ``predict_proba``, ``decision_function`` and ``transform`` of Dask collections are lazy; of
    NumPy arrays they are what `SMFClassifier` gives. ``to_local()`` is that classifier.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from superfactor.datasets import simulate
    >>> from superfactor.distributed import DaskSMFClassifier
    >>> data = simulate("filter", 100, 10, 2, random_state=0)
    >>> X = da.from_array(data.X, chunks=(50, 10))
    >>> with Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
    ...     clf = DaskSMFClassifier(n_components=2, client=client).fit(X, data.y)
    ...     print(clf.predict(X).compute().shape, clf.certificate_.is_global)
    (100,) True
    """

    plain = SMFClassifier

    def _metric(self, y: Any, predicted: Any, weight: Any) -> float:
        return float(accuracy_score(y, predicted, sample_weight=weight))

    def decision_function(self, X: Any, covariates: Any = None) -> Any:
        """Scores whose softmax is ``predict_proba``, a Dask array of a Dask collection."""
        return self._either("decision_function", X, covariates=covariates)

    def predict_proba(self, X: Any, covariates: Any = None) -> Any:
        """Class probabilities, a Dask array (n_samples, n_classes) of a Dask collection."""
        return self._either("predict_proba", X, covariates=covariates)

    def predict_log_proba(self, X: Any, covariates: Any = None) -> Any:
        """Their logarithms, a Dask array (n_samples, n_classes) of a Dask collection."""
        return self._either("predict_log_proba", X, covariates=covariates)


class DaskSMFRegressor(DaskFactorization, SMFRegressor):
    """`SMFRegressor` for Dask arrays and DataFrames, its samples on the workers of a cluster.

    See `DaskSMFClassifier` for how it runs, what it takes, and what it adds to `SMFRegressor`.

    Parameters
    ----------
    n_components : int, default=2
        Number of factors.
    client : distributed.Client, default=None
        None is Dask's default client.
    **options
        Those of `SMFRegressor`: ``model``, ``xi``, ``lam`` and so on. With the
        restrictions of `DaskSMFClassifier`.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from superfactor.datasets import simulate
    >>> from superfactor.distributed import DaskSMFRegressor
    >>> data = simulate("filter", 100, 10, 2, random_state=0)
    >>> X = da.from_array(data.X, chunks=(50, 10))
    >>> with Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
    ...     model = DaskSMFRegressor(n_components=2, client=client).fit(X, data.activations[:, 0])
    ...     print(model.predict(X).compute().shape)
    (100,)
    """

    plain = SMFRegressor

    def _metric(self, y: Any, predicted: Any, weight: Any) -> float:
        if self.loss == "poisson":
            return deviance_explained(y, predicted, weight)
        return float(r2_score(y, predicted, sample_weight=weight))
