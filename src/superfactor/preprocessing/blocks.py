"""`BlockScaler`: give several tables side by side equal weight, whatever their size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.linalg import svds
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from superfactor.preprocessing.columns import cut, names_of, positions_of, refuse_missing

SCALINGS = ("mfa", "frobenius", None)
# Largest side for which the Gram matrix is used: it is exact and cheaper than Lanczos steps.
_GRAM_SIDE = 2000


class BlockScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Multiply each block of columns by one number, so that blocks of any size have equal weight.

    If expression has 20,000 columns and clinical chemistry 30, the factors of the joined table would be those
    of expression. Scaling the columns of a block by s is equivalent to the weight s²ξ of its reconstruction.

    Parameters
    ----------
    blocks : dict from name to columns, default=None
        Columns as names, positions, a boolean mask or a slice; `JoinedBlocks.blocks` is such a dict.
        Columns in no block, such as covariates, stay unchanged. None is one block of all columns.
    scaling : "mfa", "frobenius" or None, default="mfa"
        "mfa" divides a block X_b by its largest singular value σ₁(X_b), as multiple factor analysis does: no
        block can determine the first factor alone. "frobenius" divides by ‖X_b‖: all blocks have the same
        sum of squares. None changes nothing. The norms are those of the training samples, without
        centering; centre or standardise X before.

    keep_missing : bool, default=False
        Missing values (NaN) of new samples stay in ``transform``, for a model that completes them; ``fit``
        does not accept any. If False, they are an error.

    Attributes
    ----------
    scales_ : dict from name to float
        The factor of each block; 1 for a block of zeros.
    blocks_ : dict from name to list of int
        The positions of the columns of each block.
    n_features_in_, feature_names_in_ : as in scikit-learn

    See Also
    --------
    join_blocks : join several tables of the same samples.
    superfactor.interpretation.block_shares : the share of each block in the factors and the prediction.

    Examples
    --------
    >>> import numpy as np
    >>> from superfactor.preprocessing import BlockScaler
    >>> X = np.array([[3.0, 0.0, 10.0], [0.0, 4.0, 20.0]])
    >>> scaler = BlockScaler({"genes": slice(0, 2), "blood": [2]}, scaling="frobenius").fit(X)
    >>> {name: round(scale, 4) for name, scale in scaler.scales_.items()}
    {'genes': 0.2, 'blood': 0.0447}
    >>> scaler.transform(X)[:, :2]
    array([[0.6, 0. ],
           [0. , 0.8]])
    """

    #: Of steps in model files of version 1.1.
    keep_missing: bool = False

    def __init__(self, blocks: Any = None, *, scaling: str | None = "mfa", keep_missing: bool = False):
        self.blocks = blocks
        self.scaling = scaling
        self.keep_missing = keep_missing

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn one number for each block.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : ignored
        """
        if self.scaling not in SCALINGS:
            raise ValueError(f"scaling={self.scaling!r}: 'mfa', 'frobenius' or None is required")
        X = self._checked(X, reset=True)
        blocks = block_positions(self.blocks, self)
        self._refuse_missing(X, blocks)
        scales = {}
        for name, positions in blocks.items():
            size = _size(cut(X, positions), self.scaling)
            scales[name] = 1 / size if size > 0 else 1.0
        self.blocks_, self.scales_ = blocks, scales
        return self

    def transform(self, X: Any) -> Any:
        """Return X with the columns of every block multiplied by its scale; sparse if X is."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        self._refuse_missing(X, self.blocks_, keep=self.keep_missing)
        return _times(X, self.column_scales.astype(X.dtype))

    def inverse_transform(self, X: Any) -> Any:
        """Return columns in their original scale; `X` is a result of ``transform``."""
        check_is_fitted(self)
        X = self._checked(X, reset=False, named=False)
        return _times(X, 1 / self.column_scales.astype(X.dtype))

    def _checked(self, X: Any, *, reset: bool, named: bool = True) -> Any:
        options = {
            "accept_sparse": ("csr", "csc"),
            "dtype": [np.float64, np.float32],
            "ensure_all_finite": False,
        }
        return validate_data(self, X if named else np.asanyarray(X), reset=reset, **options)

    def _refuse_missing(self, X: Any, blocks: Mapping[str, list[int]], *, keep: bool = False) -> None:
        names = names_of(self)
        for name, positions in blocks.items():
            own = [names[j] for j in positions]
            refuse_missing(cut(X, positions), own, None if keep else f"block {name!r} must have none")

    @property
    def column_scales(self) -> Any:
        """Return the factor of each column ``(n_features_in_,)``; 1 for columns in no block."""
        scale = np.ones(self.n_features_in_)
        for name, positions in self.blocks_.items():
            scale[positions] = self.scales_[name]
        return scale

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def block_positions(blocks: Any, estimator: Any) -> dict[str, list[int]]:
    """Return the column positions of each block in the X of `estimator`; no column may be in two blocks."""
    if blocks is None:
        return {"all": list(range(estimator.n_features_in_))}
    if not isinstance(blocks, Mapping) or not blocks:
        raise TypeError(f"blocks={blocks!r}: a dict from the name of a block to its columns is required")
    found: dict[str, list[int]] = {}
    owner: dict[int, str] = {}
    for key, columns in blocks.items():
        name = str(key)
        positions = positions_of(columns, estimator, f"blocks[{name!r}]")
        if not positions:
            raise ValueError(f"blocks[{name!r}]: no columns; at least one is required")
        for j in positions:
            if owner.setdefault(j, name) != name:
                raise ValueError(
                    f"blocks: column {names_of(estimator)[j]!r} is in {owner[j]!r} and in {name!r}; a column "
                    "is in one block at most"
                )
        found[name] = positions
    return found


def _times(X: Any, scale: Any) -> Any:
    if sp.issparse(X):
        return (X @ sp.diags_array(scale)).asformat(X.format)
    return X * scale


def _size(block: Any, scaling: str | None) -> float:
    if scaling is None:
        return 1.0
    if scaling == "mfa":
        return _largest_singular_value(block)
    values = block.data if sp.issparse(block) else block
    return float(np.sqrt(np.sum(np.square(values, dtype=np.float64))))


def _largest_singular_value(block: Any) -> float:
    n, p = block.shape
    if min(n, p) > _GRAM_SIDE:
        start = np.random.default_rng(0).standard_normal(min(n, p))
        return float(svds(block, k=1, v0=start, return_singular_vectors=False)[0])
    block = block.astype(np.float64, copy=False)
    gram = block @ block.T if n < p else block.T @ block
    gram = gram.toarray() if sp.issparse(gram) else gram
    last = len(gram) - 1
    (largest,) = eigh(gram, eigvals_only=True, subset_by_index=[last, last])
    return float(np.sqrt(max(largest, 0.0)))
