"""`DaskSMFClassifier` and `DaskSMFRegressor`: estimators for Dask arrays and DataFrames."""

from __future__ import annotations

from typing import Any

from sklearn.metrics import accuracy_score, r2_score

from superfactor.distributed.base import DaskFactorization
from superfactor.estimators import SMFClassifier, SMFRegressor
from superfactor.estimators.targets import deviance_explained


class DaskSMFClassifier(DaskFactorization, SMFClassifier):
    """`SMFClassifier` for Dask arrays and DataFrames, with samples on the workers of a cluster.

    Parameters, objective, optimum and certificate are those of `SMFClassifier`. Every worker loads its share
    of the samples once and keeps it. An evaluation sends one small message to each worker. If a worker is
    lost during the fit, another one loads its share again and repeats the previous steps. The result is the
    same, and a warning is raised.

    Parameters
    ----------
    n_components : int, default=2
        Number of factors.
    client : distributed.Client, default=None
        None is Dask's default client.
    **options
        Parameters of `SMFClassifier`: ``model``, ``xi``, ``lam`` and so on. Only the default solver runs on a
        cluster: ``constraint`` and ``device`` must be None, and ``certify="ascent"`` is not available.

    Attributes
    ----------
    components_, patterns_, coef_, factor_coef_, classes_, objective_, certificate_, … :
        Those of `SMFClassifier`, as NumPy arrays. Attributes that describe the factors (``patterns_``,
        ``score_mean_``, ``score_covariance_``, ``feature_scale_``, ``factor_turn_``,
        ``factor_contribution_``) are summed on the workers in one pass after the fit.
    codes_ : Dask array of shape (n_samples, n_components)
        Codes of the training samples. In the filter model they are computed from X when they are used. In
        the feature model they depend on the labels too, so the client keeps them in memory.
    recovered_ : list of str
        One line for every share that was lost with its worker and loaded again.

    Notes
    -----
    X may be a Dask array (dense or of SciPy-sparse chunks, float64 or float32) or a Dask DataFrame. y,
    covariates and sample weights may be Dask collections or arrays in memory. Samples may have no label. All
    arrays are divided at the row chunks of X, which are distributed over the workers: there should be at
    least one chunk per worker, and the share of a worker must fit into its memory. Unknown numbers of rows,
    as in DataFrames, are counted first.

    ``predict``, ``predict_proba``, ``decision_function`` and ``transform`` are lazy for Dask collections, and
    the same as those of `SMFClassifier` for NumPy arrays. ``to_local()`` returns an `SMFClassifier`.

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
        """Return scores whose softmax is ``predict_proba``; for a Dask collection, a Dask array."""
        return self._either("decision_function", X, covariates=covariates)

    def predict_proba(self, X: Any, covariates: Any = None) -> Any:
        """Return class probabilities; for a Dask collection, a Dask array (n_samples, n_classes)."""
        return self._either("predict_proba", X, covariates=covariates)

    def predict_log_proba(self, X: Any, covariates: Any = None) -> Any:
        """Return log-probabilities; for a Dask collection, a Dask array (n_samples, n_classes)."""
        return self._either("predict_log_proba", X, covariates=covariates)


class DaskSMFRegressor(DaskFactorization, SMFRegressor):
    """`SMFRegressor` for Dask arrays and DataFrames, with samples on the workers of a cluster.

    See `DaskSMFClassifier` for inputs, execution and additional attributes.

    Parameters
    ----------
    n_components : int, default=2
        Number of factors.
    client : distributed.Client, default=None
        None is Dask's default client.
    **options
        Parameters of `SMFRegressor`: ``model``, ``xi``, ``lam`` and so on, with the restrictions of
        `DaskSMFClassifier`.

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
