"""`DaskFactorization`: how the estimators on a cluster differ from those in memory."""

# Parts of Dask have no types.
# mypy: allow-untyped-calls

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from distributed import Client, default_client
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, validate_data

from superfactor._arrays import Array
from superfactor.distributed.block import Statement, loaded_samples
from superfactor.distributed.lazy import lazily, with_trained
from superfactor.distributed.partitions import Partitions, as_array, cut, is_lazy, outline
from superfactor.distributed.samples import RemoteSamples
from superfactor.estimators import SMFClassifier, inputs, parameters, targets
from superfactor.estimators.base import Stated
from superfactor.estimators.covariates import ColumnRoles
from superfactor.models import model_named
from superfactor.problem import Problem, pose
from superfactor.solvers import SOLVERS
from superfactor.theory.certificate import METHOD_IN_PASSES
from superfactor.units import Weights


@dataclass(frozen=True)
class OnWorkers(Stated):
    """A problem whose samples are on the workers of a cluster."""

    partitions: Partitions  # the partitions of X, y, covariates and weights


class DaskFactorization:
    """Fit and predictions of `DaskSMFClassifier` and `DaskSMFRegressor`; overrides methods of `plain`."""

    recovered_: list[Any]
    component_names_: Any
    codes_: Any  # a Dask array

    #: The estimator in memory.
    plain: ClassVar[Any]

    def __init__(self, n_components: int = 2, *, client: Client | None = None, **options: Any):
        super().__init__(n_components, **options)  # type: ignore[call-arg]
        self.client = client

    @classmethod
    def _get_param_names(cls) -> list[str]:
        # scikit-learn reads the constructor's signature, which has **options here.
        return sorted([*cls.plain._get_param_names(), "client"])

    def __sklearn_clone__(self: Any) -> Any:
        """Clone the estimator; the client is shared, because it cannot be copied."""
        options = self.get_params(deep=False)
        client = options.pop("client")
        options = {name: clone(value, safe=False) for name, value in options.items()}
        return type(self)(client=client, **options)

    def __getstate__(self: Any) -> dict[str, Any]:
        """Leave out the client and the samples on its workers."""
        state: Any = super().__getstate__()
        return {**{name: x for name, x in state.items() if name != "_remote"}, "client": None}

    # --- fitting ---------------------------------------------------------------------------------

    def _fit(self: Any, X: Any, y: Any, covariates: Any, sample_weight: Any) -> Any:
        self._check_alone()
        self.recovered_ = []
        try:
            return super()._fit(X, y, covariates, sample_weight)  # type: ignore[misc]
        finally:
            samples = vars(self).pop("_remote", None)
            if samples is not None:
                self.recovered_ = samples.recovered
                samples.close()

    def _check_alone(self: Any) -> None:
        """Raise a ValueError for options that a cluster does not support."""
        for name in ("constraint", "device"):
            if getattr(self, name) is not None:
                shown = parameters.shown(getattr(self, name))
                raise ValueError(f"{name}={shown}: None is required on a cluster")
        solvers = ["auto", *(name for name, solver in SOLVERS.items() if solver.in_passes)]
        if self.solver not in solvers:
            required = " or ".join(map(repr, solvers))
            raise ValueError(f"solver={parameters.shown(self.solver)}: {required} is required on a cluster")
        if not METHOD_IN_PASSES.get(self.certify, True):
            required = " or ".join(repr(name) for name, passes in METHOD_IN_PASSES.items() if passes)
            raise ValueError(f"certify={self.certify!r}: {required} or None is required on a cluster")

    def _connected(self) -> Client:
        """Return the given client, or Dask's default one."""
        client = self.client
        if client is None:
            try:
                client = default_client()
            except ValueError as error:
                raise ValueError(
                    "client=None: there is no Dask client; distributed.Client(...) makes one"
                ) from error
        if not isinstance(client, Client) or client.asynchronous:
            raise TypeError(f"client={client!r}: None or a synchronous Dask client is required")
        if client.status != "running":
            raise ValueError(f"client: it is {client.status}; one that is connected to a cluster is required")
        return client

    def state(
        self: Any, X: Any, y: Any, covariates: Any = None, sample_weight: Any = None, **_: Any
    ) -> OnWorkers:
        """Load the samples on the workers and state the problem; set attributes that depend on inputs."""
        client, name = self._connected(), type(self).__name__
        if not is_lazy(X):
            kind = type(X)
            raise TypeError(
                f"X: a Dask array or DataFrame is required, got {kind.__module__}.{kind.__name__}; "
                f"{self.plain.__name__} accepts it"
            )
        if y is None:
            targets.check_labels(None, X, name)  # raises the error
        if self.plain is SMFClassifier and targets.has_several_columns(y):
            raise ValueError(
                f"y: {name} requires one column of labels; SMFClassifier, in memory, accepts several"
            )
        if self._exposure_column is not None:
            raise ValueError(
                f"exposure_column: {name} does not support exposures; {self.plain.__name__}, in memory, does"
            )
        table = outline(X)
        validate_data(self, table, reset=True, skip_check_array=True)
        names = inputs.column_names(table)
        columns = inputs.covariate_indices(self.covariate_columns, table.shape[1], names)
        given = {"X": X, "y": y, "covariates": covariates, "sample_weight": sample_weight}
        partitions = cut(client, given)
        if sum(partitions.rows) == 0 or table.shape[1] == 0:
            raise ValueError(
                f"X: at least 1 sample and 1 feature are required, got {sum(partitions.rows)} and "
                f"{table.shape[1]}"
            )
        extra = partitions.arrays.get("covariates")
        n_beside = 0 if extra is None else int(np.prod(extra.shape[1:]))
        # Covariates must be numbers on a cluster, so no encoders are needed.
        self._roles = ColumnRoles(columns, n_beside, inputs.column_names(covariates))
        self.component_names_ = names and inputs.names_without(columns, table.shape[1], names)
        self._remote = RemoteSamples(
            client,
            partitions.loads,
            partitions.rows,
            partial(
                loaded_samples,
                options=self.options,
                estimator=name,
                columns=columns,
                check=self._check_targets,
                unlabeled=self.unlabeled,
            ),
            partitions.holders,
        )
        problem, everyone = self._problem(self._remote, partitions)
        return OnWorkers(problem, everyone, None, partitions)

    def _problem(self: Any, samples: RemoteSamples, partitions: Partitions) -> tuple[Problem, Any]:
        """Return the problem of these samples, and the columns of X that are factorized."""
        X = partitions.arrays["X"]
        classes = weights = None
        n_labelled = samples.n_labelled()
        if not n_labelled:
            raise ValueError(targets.no_label(sum(partitions.rows)))
        if self.plain is SMFClassifier:
            classes, weights = _labels(samples, type(self).__name__)
        # One sample of each class, or the largest targets, determine loss and class weights.
        some = samples.largest()[None] if classes is None else classes
        values, self._loss, class_weight = self._targets(some, some, weights, None)
        self.n_labeled_ = n_labelled
        n_outputs = len(classes) - 1 if classes is not None else int(values.shape[1])
        kept = [j for j in range(X.shape[1]) if j not in self.covariate_columns_]
        shape = sum(partitions.rows), len(kept)
        parameters.check_rank(self.n_components, *shape)
        intercept = bool(self.fit_intercept)
        samples.state(Statement(self._loss, n_outputs, intercept, classes, class_weight))
        problem = pose(
            samples,
            model=model_named(self.model),
            shape=shape,
            n_outputs=n_outputs,
            loss=self._loss,
            weights=Weights(self.xi, self.lam, self.lam_covariates),
            n_covariates=len(self.covariate_columns_) + self.n_covariates_in_,
            fit_intercept=intercept,
            like=np.empty(0, dtype=np.float32 if X.dtype == np.float32 else np.float64),
            options=self.options,
        )
        return problem, X[:, kept] if self.covariate_columns_ else X

    def _solve(self: Any, *arguments: Any, **options: Any) -> Any:
        # Codes that depend on X only are computed when they are used.
        needed = model_named(self.model).codes_see_labels
        return super()._solve(*arguments, **{**options, "codes": needed})  # type: ignore[misc]

    def adopt(self: Any, stated: Any, solution: Any) -> Any:
        """Set the fitted attributes; ``codes_`` is lazy and computed on the workers."""
        super().adopt(stated, solution)  # type: ignore[misc]
        codes = lazily(self._small(), "transform", stated.partitions.arrays["X"])
        trained = solution.factors.codes
        if trained is not None:
            codes = with_trained(codes, trained, stated.partitions)
        self.codes_ = codes
        return self

    @property
    def _check_targets(self: Any) -> Any:
        """Return the function that checks y."""
        if self.plain is SMFClassifier:
            return targets.check_labels
        return _check_counts if self._counts else targets.check_real_targets

    # --- using the fit ---------------------------------------------------------------------------

    def to_local(self: Any) -> Any:
        """Return the same model as an estimator in memory, with ``codes_`` computed.

        Returns
        -------
        `SMFClassifier` or `SMFRegressor`
        """
        local = self._small()
        if hasattr(self, "feature_names_in_"):
            local.feature_names_in_ = self.feature_names_in_
        local.codes_ = self._connected().compute(self.codes_).result()
        return local

    def _small(self: Any) -> Any:
        """Return the plain estimator without codes and names, to send it to workers."""
        check_is_fitted(self)
        options = self.get_params(deep=False)
        del options["client"]
        local = self.plain(**options)
        left = {*options, "client", "codes_", "recovered_", "feature_names_in_", "_remote"}
        vars(local).update({name: x for name, x in vars(self).items() if name not in left})
        return local

    def _either(self: Any, method: str, X: Any, **covariates: Any) -> Any:
        """Return the result of a method of the plain estimator; lazy if X is a Dask collection."""
        if not is_lazy(X):
            return getattr(self.plain, method)(self, X, **covariates)
        check_is_fitted(self)
        validate_data(self, outline(X), reset=False, skip_check_array=True)
        given = covariates.get("covariates")
        inputs.check_same_names(given, self._roles.beside)
        return lazily(self._small(), method, X, given)

    def transform(self, X: Any, covariates: Any = None) -> Any:
        """Return codes of new samples; for a Dask collection, a Dask array (n_samples, n_components)."""
        return self._either("transform", X, covariates=covariates)

    def predict(self, X: Any, covariates: Any = None) -> Any:
        """Return labels or targets; for a Dask collection, a Dask array."""
        return self._either("predict", X, covariates=covariates)

    def inverse_transform(self: Any, X: Any) -> Any:
        """Return samples from codes; for a Dask array, a Dask array."""
        if not is_lazy(X):
            return self.plain.inverse_transform(self, X)
        return lazily(self._small(), "inverse_transform", X)

    def score(self: Any, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> float:
        """Return accuracy, R² or, for counts, D² of samples with a label or target; computed immediately."""
        if not is_lazy(X):
            return float(self.plain.score(self, X, y, sample_weight, covariates))
        given = [y, self.predict(X, covariates), sample_weight]
        lazy = [None if values is None else as_array(values) for values in given]
        y, *others = self._connected().gather(self._connected().compute(lazy))
        given = self._check_targets(y, others[0], type(self).__name__, self.unlabeled)
        predicted, sample_weight = map(given.of_labelled, others)
        return float(self._metric(given.labelled, predicted, sample_weight))


def _check_counts(y: Any, X: Array, name: str, unlabeled: Any) -> targets.CheckedY:
    """Check real targets that must not be negative."""
    return targets.check_counts(targets.check_real_targets(y, X, name, unlabeled))


def _labels(samples: RemoteSamples, name: str) -> tuple[Array, Array]:
    """Return the sorted labels that occur, and the sum of weights of each."""
    # Parts without a label have an empty array of arbitrary type.
    found = [(labels, weights) for labels, weights in samples.labels() if len(labels)]
    labels = np.concatenate([labels for labels, _ in found])
    classes, where = np.unique(targets.check_labels(labels, labels, name).values, return_inverse=True)
    return classes, np.bincount(where, np.concatenate([weights for _, weights in found]))
