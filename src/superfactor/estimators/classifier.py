"""`SMFClassifier`: supervised matrix factorization for labels."""

from __future__ import annotations

import os
from typing import Any, Self

from sklearn.base import ClassifierMixin

from superfactor._arrays import Array, NumpyArray, namespace
from superfactor.constraints import ConvexSet
from superfactor.estimators import targets
from superfactor.estimators.base import SupervisedFactorization
from superfactor.estimators.progress import with_callbacks
from superfactor.losses import Link, Loss


class SMFClassifier(ClassifierMixin, SupervisedFactorization):
    """Supervised matrix factorization for classification.

    Finds ``n_components`` factors that reconstruct X *and* predict the classes, and computes how far
    the solution can be from the global optimum. With κ + 1 classes it minimises

        ``F = Σ_i ℓ(y_i, a_i) + ξ‖X − codes @ components‖² + λ(‖A‖² + ‖γ‖²)``

    over matrices of rank at most ``n_components``. The activations are ``a_i = Aᵀx_i + γᵀx'_i``
    with ``A = Wβ`` in the filter model (SMF-W), and ``a_i = A_i + γᵀx'_i`` with ``A_i = βᵀh_i`` in
    the feature model (SMF-H), where ``h_i`` is the sample's code and ``x'_i`` its covariates.

    If y has several columns, they are several yes/no labels that share the factors: ℓ is the sum of their
    logistic losses, and there is one certificate. See the Notes.

    Parameters
    ----------
    n_components : int, default=2
        r, from 1 to min(n_samples, n_features).
    model : {"filter", "feature"}, default="filter"
        "filter" predicts from projections of X, "feature" from the codes.
    xi : "auto" or float, default="auto"
        ξ > 0, weight of the reconstruction relative to the classification. "auto" is in the units of the
        data (`superfactor.units`); a number is used as in the paper. ``xi_`` is the value of the fit.
    lam : "auto" or float, default="auto"
        λ ≥ 0, ridge on the lifted coefficients A; "auto" as for `xi`. ``lam_`` is the value of the fit. With
        0 and separable classes there is no minimum; the fit then ends with a warning.
    lam_covariates : "auto", float or None, default="auto"
        Ridge on the coefficients of the covariates; the intercept is not penalized. "auto" is 0.08 times the
        variance of each covariate. This corresponds to a normal prior with standard deviation 2.5 on the
        log-odds per standard deviation: it is weak and does not depend on units. None uses λ, as the paper
        does. ``lam_covariates_`` is the value of the fit.
    link : {"logistic", "probit"} or Link, default="logistic"
        The score function h of the paper; "probit" is for two classes. See `superfactor.losses` for custom
        links.
    fit_intercept : bool, default=True
    covariate_columns : column name(s), index(es) or boolean mask, default=None
        Columns of X that enter the classifier directly and are not factorized. Names require a DataFrame,
        Parquet or Arrow.
    class_weight : None, "balanced" or dict, default=None
        Factors of the loss by class; they do not change the reconstruction. A class of weight 0 is left out
        of the loss and never predicted; two classes need a weight above 0. Must be None for several labels.
    constraint : ConvexSet, default=None
        A convex set Θ from `superfactor.constraints`. It constrains the lifted variables (A, B, γ), with
        B = codes @ components, and not the factors. The only exception is ``NonNegative()`` with
        ``solver="bcd"``, which means components ≥ 0 and codes ≥ 0 (supervised NMF). The projection to rank
        `n_components` comes last and may leave Θ; ``violation_`` is the distance. ``transform`` ignores the
        constraint and may differ from ``codes_``.
    solver : {"auto", "lifted-newton", "lpgd", "bcd"}, default="auto"
        "auto" is "lifted-newton", or "lpgd" with a `constraint`. "bcd" supports the constraint
        ``NonNegative()`` only.
    search : {"auto", "off", "thorough"}, default="auto"
        How "lifted-newton" searches if its first solution is not proven optimal. "auto" tries other starts
        for about the time of the first one, "thorough" tries many more for many times as long, and "off"
        tries none. ``certificate_`` has the number of starts.
    step_size : "auto" or float, default="auto"
        Step size of "lpgd".
    max_iter : int, default=None
        None is the default of the solver.
    tol : float, default=1e-8
        Tolerance relative to the part of F that supervision can change. With 0 the fit runs to machine
        precision ("lifted-newton") or for `max_iter` iterations ("lpgd", "bcd").
    prediction : {"exact", "fast"}, default="exact"
        Feature model only: "exact" codes a new sample once for each label and compares the results, "fast"
        projects it once. Probabilities of "exact" are relative energies, exp(−E_y) normalised, and are less
        calibrated than those of "fast". It may be changed after ``fit``.
    certify : {"residual", "ascent"} or None, default="residual"
        How the lower bound on F is computed: from the residuals of the fit, improved by ascent, or not.
    unlabeled : label, default=None
        A value of y that means "no label", such as -1; None, NaN and NA always do. Samples without a label
        are factorized like all others, but do not enter the loss.
    impute : {"factors"} or None, default=None
        Missing values (NaN) of new samples: "factors" completes the features of a sample from its observed
        ones and the factors of the model, with a warning; None raises an error. ``fit`` always requires
        complete samples. It may be changed after ``fit``.
    device : str or torch.device, default=None
        Device of the fit: "cuda", "cuda:1", … None is the device of X. A dense NumPy or pandas X is copied to
        the device as a PyTorch array of the same dtype. The results are NumPy arrays, and predictions run on
        the CPU. With "cpu", NumPy is used. A PyTorch X is copied to the device, and the results stay there.
        Requires PyTorch; sparse X stays on the CPU.
    checkpoint : str or path, default=None
        A file to which a long fit writes its state every few seconds. If it exists, the fit resumes from it.
        Default solver only. A file for other data or parameters raises an error and is not overwritten. It is
        never deleted automatically.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the random starts. None is a fixed seed: the same data gives the same fit.
    verbose : int, default=0
        1 prints a summary and, on a terminal, the progress of passes over X; 2 prints every iteration.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features without covariate columns)
        W transposed: rows are the atoms. Orthonormal in the filter model only, and not where they
        are non-negative.
    component_names_ : NumPy array of shape (n_features without covariate columns,)
        Names of the columns of ``components_``: x0, x1, … where X has none.
    column_names_ : NumPy array of shape ``(n_features_in_,)`` or None
        Names of the columns of X: those of a DataFrame, or given by ``set_feature_names``.
    explained_variance_ratio_ : array of shape (n_components,)
        Share of the sum of squares of X that each factor reconstructs. X is not centred: centre it before
        the fit for shares of variance.
    codes_ : array of shape (n_samples, n_components)
        H transposed, the codes of the training samples.
    patterns_ : array of shape (n_components, n_features without covariate columns)
        Regression of the centred X on ``transform(X)`` in the training samples. Weights define how a code is
        computed; patterns show which features are related to it.
    score_mean_, score_covariance_ : array of shape (n_components,), (n_components, n_components)
        Weighted mean and covariance of ``transform(X)`` in the training samples.
    feature_mean_, feature_scale_ : array of shape (n_features without covariate columns,)
        Weighted means and standard deviations of the features in the training samples.
    factor_turn_ : array of shape (n_components, n_components)
        ``(transform(X) - score_mean_) @ factor_turn_`` are the scores of the factors in tables and plots
        (`superfactor.interpretation.factor_view`), up to order and sign. In the training samples they are
        uncorrelated with variance 1; predictive factors come first.
    factor_contribution_ : array of shape (n_components,)
        Share of the deviance explained by all these factors that is lost without each of them.
    factor_coef_ : array of shape (1, n_components) or (n_classes, n_components)
        β transposed, the change of ``decision_function`` per unit of each code: one row for two classes,
        otherwise one for each class, with zeros for ``classes_[0]``.
    coef_ : array of shape ``(1, n_features_in_)`` or ``(n_classes, n_features_in_)``
        Weights of the columns of X, including covariate columns:
        ``decision_function(X) == X @ coef_.T + intercept_``. Defined only if this is linear in X: with the
        logistic link, in the filter model, and in the feature model with ``prediction="fast"``.
    feature_importances_ : NumPy array of shape ``(n_features_in_,)``
        Change of the activations of the classes per unit of a column of X. Columns with different units are
        comparable after standardisation.
    covariate_coef_ : array of shape (1, n_covariates) or (n_classes, n_covariates)
        γ transposed, rows as in ``factor_coef_``; `covariate_columns` first, then the columns of
        `covariates`.
    covariate_columns_ : list of int
        `covariate_columns` as positions in X.
    n_covariates_in_ : int
        Number of columns of the argument `covariates` of ``fit``.
    covariate_names_ : NumPy array of shape (n_covariates,)
        Names of the columns of ``covariate_coef_``. If they have no names: x<j> for column j of X, and
        "covariate 0", … for those of `covariates`. ``sex=M`` is the indicator of a level.
    covariate_levels_ : dict from str to list of str
        The levels of categorical covariates by name; the reference level comes first.
    intercept_ : array of shape (1,) or (n_classes,)
    classes_ : NumPy array of shape (κ + 1,)
    xi_, lam_ : float
        ξ and λ of the fit, as in the F of the paper.
    lam_covariates_ : array of shape (n_covariates,)
        The ridge of every covariate.
    class_count_ : list of float
        Sum of the weights of the training samples of each class.
    n_labeled_ : int
        Number of training samples with a label.
    objective_ : float
        F at the solution, a sum over samples and not a mean.
    history_ : dict of lists
        "objective", "seconds" and "step", one entry per iteration. With "lifted-newton" the objective is
        the lowest value so far.
    n_iter_ : int
    violation_ : float
        Violation of the `constraint`: the largest entry of the difference to the projection onto it, with
        samples in units of √weight. 0.0 without a constraint.
    certificate_ : Certificate or None
        ``lower_bound``, ``gap``, ``relative_gap``, ``is_global``, ``statement``; and from the
        convergence theorem ``mu``, ``L``, ``condition_number``, ``step_window``, ``rate``.
    n_features_in_ : int
        Number of columns of X, including covariate columns.
    feature_names_in_ : array of shape ``(n_features_in_,)``
        If X was a DataFrame with string column names, Parquet or Arrow.

    Notes
    -----
    ``classes_[0]`` is the base class: its activation is 0, and its row of ``coef_`` is zero. With two classes
    the choice of the base class does not matter. With more classes the ridge depends on it: renaming the
    classes so that another one comes first changes the fit. (scikit-learn's multinomial ridge is symmetric
    and not comparable.)

    Several labels: y has one column per label with 0, 1, True, False or a missing value (None, NaN, NA,
    `unlabeled`). Missing entries do not enter the loss. ``classes_`` are the names of the columns, or 0, 1,
    …. ``coef_`` and similar attributes have one row per label. ``decision_function``, ``predict_proba`` and
    ``predict`` return one column per label: log-odds, probabilities, and 0 or 1. ``class_count_`` counts the
    samples with the label. In the feature model, ``prediction="exact"`` compares both values of a label with
    the other labels unknown. There is no need for more factors than labels.

    ``xi``, ``lam`` and ``objective_`` refer to a sum over samples: twice the data with the same ``lam`` means
    half the regularisation. ``sample_weight`` multiplies every term of a sample: weight 2 is equivalent to
    two copies of the sample, and weight 0 to leaving it out.

    Implementation by type of X:

    ========================== ========================== =========================================
    X                          computed with              fitted attributes and results
    ========================== ========================== =========================================
    NumPy float64, float32     NumPy, no copy of X        NumPy, dtype of X
    other NumPy, lists         NumPy, X as float64        NumPy float64
    pandas DataFrame           NumPy                      NumPy (see ``set_output``)
    dense of these, `device=`  PyTorch on that device     NumPy, as without it
    SciPy CSR, CSC             SciPy products, never      NumPy, dtype of X
                               dense, on all cores
    `row_blocks`, memmap,      NumPy, on blocks of rows   NumPy, dtype of X (float32 or float64)
    Zarr, Parquet, Arrow       read in passes
    PyTorch, CuPy, array-API   the same library and       arrays of that library and device;
                               device                     string labels come back as NumPy
    ========================== ========================== =========================================

    All fits compute sums over blocks of samples, in parallel if there are many. docs/scaling.md lists the
    costs; `superfactor.distributed` is for Dask collections. For type checkers, arrays are ``Any``, because
    their library depends on X.

    scikit-learn's callbacks (``set_callbacks``, scikit-learn ≥ 1.9) are called after each iteration and each
    further start of a solver, as tasks named "iteration" and "restart". A callback that returns True from
    ``on_fit_task_end`` stops the fit; it can read ``estimator.objective_``.

    References
    ----------
    Lee, Lyu and Yao. Exponentially Convergent Algorithms for Supervised Matrix Factorization.
    NeurIPS 2023.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from superfactor import SMFClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = SMFClassifier(n_components=3).fit(scale(X), y)
    >>> clf.components_.shape, clf.factor_coef_.shape, clf.coef_.shape
    ((3, 30), (1, 3), (1, 30))
    >>> bool(clf.score(scale(X), y) > 0.95)
    True
    """

    classes_: NumpyArray
    class_count_: list[float]
    n_labeled_: int

    def __init__(
        self,
        n_components: int = 2,
        *,
        model: str = "filter",
        xi: float | str = "auto",
        lam: float | str = "auto",
        lam_covariates: float | str | None = "auto",
        link: str | Link = "logistic",
        fit_intercept: bool = True,
        covariate_columns: Any = None,
        class_weight: Any = None,
        constraint: ConvexSet | None = None,
        solver: str = "auto",
        search: str = "auto",
        step_size: float | str = "auto",
        max_iter: int | None = None,
        tol: float = 1e-8,
        prediction: str = "exact",
        certify: str | None = "residual",
        unlabeled: Any = None,
        impute: str | None = None,
        device: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_components = n_components
        self.model = model
        self.xi = xi
        self.lam = lam
        self.lam_covariates = lam_covariates
        self.link = link
        self.fit_intercept = fit_intercept
        self.covariate_columns = covariate_columns
        self.class_weight = class_weight
        self.constraint = constraint
        self.solver = solver
        self.search = search
        self.step_size = step_size
        self.max_iter = max_iter
        self.tol = tol
        self.prediction = prediction
        self.certify = certify
        self.unlabeled = unlabeled
        self.impute = impute
        self.device = device
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any, covariates: Any = None, sample_weight: Any = None) -> Self:
        """Fit factors and classifier together.

        Parameters
        ----------
        X : array-like, DataFrame, sparse matrix or `row_blocks` of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Labels of any sortable type, two classes or more; or several columns of yes/no labels. None, NaN,
            NA and `unlabeled` mean that a sample has no label: it enters the reconstruction only.
        covariates : array-like or DataFrame of shape (n_samples, n_covariates), optional
            Enter the classifier directly; strings, categories and booleans as indicators relative to their
            most frequent level. If given, they are required for prediction too.
        sample_weight : array-like of shape (n_samples,), optional
            Multiplies every term of a sample; 0 leaves it out.

        Returns
        -------
        self
        """
        return self._fit(X, y, covariates, sample_weight)

    @property
    def _label_type(self) -> targets.LabelType:
        """Return whether the model was fitted to one label of several classes or to several labels."""
        return targets.label_type_for_loss(getattr(self, "_loss", None))

    def _checked_y(self, y: Any, X: Any) -> targets.CheckedY:
        classes = getattr(self, "classes_", None)
        return self._label_type.check(y, X, type(self).__name__, self.unlabeled, classes)

    def _targets(self, y: Any, X: Array, weight: Any, kept: Any) -> tuple[Any, Loss, Any]:
        name, label_type = type(self).__name__, targets.label_type_of(y)
        given = label_type.check(y, X, name, self.unlabeled).among(kept).of_some()
        weight = weight if kept is None else weight[kept]
        posed = label_type.posed(given, weight, self.link, self.class_weight, name)
        self.classes_ = posed.classes
        self.class_count_ = [float(count) for count in posed.counts]
        self.n_labeled_ = len(given.labelled)
        return posed.targets, posed.loss, posed.factor

    def _shortcomings(self, solution: Any) -> list[Warning]:
        return [*targets.label_warnings(self.classes_, self.class_count_), *super()._shortcomings(solution)]

    def _scores(self, X: Any, covariates: Any, method: str) -> Array:
        """Return the scores from which decisions, probabilities and predictions are computed."""
        signal, offset = self._activations(X, covariates, method)
        return self._label_type.scores(self._coding, signal, offset, self._loss, self.prediction)

    def _by_output(self, coef: Array) -> Array:
        return self._label_type.by_output(coef)

    def _by_activation(self, coef: Array) -> Array:
        return self._label_type.by_activation(coef)

    def _symmetric(self, effect: Any) -> Any:
        return self._label_type.symmetric(effect)

    def _linear(self, signal: Array) -> Array:
        if self.link != "logistic" and not self._loss.link.linear:
            raise AttributeError(
                f"link={self.link!r}: decision_function is not linear in X; factor_coef_ has the effects of "
                "the factors"
            )
        if self.model == "feature" and self.prediction == "exact":
            raise AttributeError(
                "prediction='exact': the feature model compares labels, and decision_function is not "
                "linear in X; model='filter' or prediction='fast' is required, and factor_coef_ has the "
                "effects of the factors"
            )
        return self._by_output(signal.T).T

    def decision_function(self, X: Any, covariates: Any = None) -> NumpyArray:
        """Return scores whose softmax is ``predict_proba``.

        Parameters
        ----------
        X : array-like, sparse matrix or `row_blocks` of shape (n_samples, n_features)
        covariates : array-like of shape (n_samples, n_covariates), optional
            Required if they were given to ``fit``.

        Returns
        -------
        scores : array of shape (n_samples,) or (n_samples, n_classes)
            Two classes: the log-odds of ``classes_[1]``. Several labels: the log-odds of each. More classes:
            one column per class. In the filter model and with ``prediction="fast"`` these are log h of the
            activations (for the logistic link the activations themselves), with 0 for ``classes_[0]``; with
            ``prediction="exact"`` the negative energies.
        """
        return self._label_type.decisions(self._scores(X, covariates, "decision_function"))

    def predict_proba(self, X: Any, covariates: Any = None) -> NumpyArray:
        """Return class probabilities.

        Parameters are those of ``decision_function``.

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        log_p = self._label_type.log_proba(self._scores(X, covariates, "predict_proba"))
        return namespace(log_p).exp(log_p)

    def predict_log_proba(self, X: Any, covariates: Any = None) -> NumpyArray:
        """Return logarithms of ``predict_proba``, which are accurate for very small probabilities.

        Parameters are those of ``decision_function``.

        Returns
        -------
        log_probabilities : array of shape (n_samples, n_classes)
        """
        return self._label_type.log_proba(self._scores(X, covariates, "predict_log_proba"))

    def predict(self, X: Any, covariates: Any = None) -> NumpyArray:
        """Return the most probable class.

        Parameters are those of ``decision_function``.

        Returns
        -------
        labels : array of shape (n_samples,)
        """
        return self._label_type.predicted(self._scores(X, covariates, "predict"), self.classes_)

    def score(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> float:
        """Return the accuracy of ``predict`` for the samples that have a label.

        For several labels: the share of samples with all labels right, among those with all labels known.

        Parameters
        ----------
        X : array-like, sparse matrix or `row_blocks` of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
        sample_weight : array-like of shape (n_samples,), optional
        covariates : array-like of shape (n_samples, n_covariates), optional

        Returns
        -------
        accuracy : float
        """
        predicted = self.predict(X, covariates=covariates)
        return self._label_type.accuracy(self._checked_y(y, predicted), predicted, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags
