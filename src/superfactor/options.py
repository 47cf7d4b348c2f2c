"""Sizes at which one method takes over from another, each with its reason.

Sizes of buffers, and thresholds of rounding, stand where they are used: they change no method.

A problem carries its options (`Problem.options`); whoever studies a method, or tests it on small data,
passes others to `superfactor.problem.state`. The defaults were measured on two cores.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Options"]


@dataclass(frozen=True)
class Options:
    """When which method runs.

    Attributes
    ----------
    compressed_side : int
        X with at least twice as many features as samples, and no more samples than this, may be replaced
        by the rows of UΣ: below a ratio of two that makes products with X no cheaper.
    products_a_value, products_a_sparse_value : float
        It is, where decomposing the Gram matrix takes no more operations than the products of a fit: so
        many for each stored value of X. Sparse products are slower, one by one, than dense ones.
    few_features : int
        With so many features at most their Gram matrix costs less than the products with X that it saves.
    rows_a_block : int
        Rows whose part of the loss and its derivatives stays in a core's cache.
    values_worth_threads : int
        With fewer stored values of sparse X a thread pool costs more than it gains.
    whole_range : int
        Up to this dimension of X's range (or four times the rank) the search takes all of it at once:
        growing a subspace would take more products than having everything.
    largest_system : int
        Unknowns of a dense Newton system at most; its matrix, and the time to factor it, grow with the
        square and the third power.
    a_question : float
        What a question to the samples costs besides its operations, in operations.
    dense_loss : float
        Operations of dense systems take so many times as long as those of products with the samples.
    values_worth_coarse : int
        Where a design has so many values, conjugate gradients compute in float32.
    expected_products : int
        Products that conjugate gradients will take for a step, where a dense system is the alternative.
    rows_a_column, fewest_curvature_rows, curvature_gradients : int
        Curvature is summed over at least so many samples a column of the design, so many in all, or so
        many that it costs as much as that number of gradients, where there are twice as many: its error
        is repaired by gradients, which are exact.
    subsample_ratio : int
        A search begins with fewer samples where there are so many times more …
    subsample_memory : float
        … whose rows of X take at most this share of scikit-learn's ``working_memory``.
    fewest_subsample : int
        … and are at least so many: fewer say too little.
    enough_subsample, enough_a_feature : int
        … and at most the larger of so many, or so many for each feature.
    exact_side, exact_operations : int
        The certificate decomposes the Gram matrix of the smaller side up to this size and this many
        operations; beyond, a sum of eigenvalues is bounded through the solver's basis.
    ascent_side : int
        The same where the bound is ascended: it pays hundreds of times.
    gram_operations, largest_gram : float
        The constants of the theorem come from a Gram matrix up to this much work (or 64 columns), and its
        smallest eigenvalue up to this size; beyond, from Lanczos, with zero at the lower end.
    dense_eigen : int
        Up to this size a matrix is decomposed as a whole; beyond, its leading eigenvectors come from a
        Krylov or Davidson basis, which smaller ones do not repay.
    lpgd_gram, lpgd_sparse_gram : int
        Algorithm 1 decomposes the smaller Gram matrix up to this size, dense or sparse; beyond, its steps
        take products with X.

    Examples
    --------
    >>> from superfactor.options import Options
    >>> Options(dense_eigen=10).dense_eigen
    10
    """

    compressed_side: int = 2000
    products_a_value: float = 5e3
    products_a_sparse_value: float = 3e4
    few_features: int = 256
    rows_a_block: int = 8192
    values_worth_threads: int = 200_000
    whole_range: int = 64
    largest_system: int = 2400
    a_question: float = 1.5e7
    dense_loss: float = 6.0
    values_worth_coarse: int = 50_000
    expected_products: int = 12
    rows_a_column: int = 64
    fewest_curvature_rows: int = 8192
    curvature_gradients: int = 16
    subsample_ratio: int = 8
    subsample_memory: float = 0.5
    fewest_subsample: int = 4096
    enough_subsample: int = 8192
    enough_a_feature: int = 16
    exact_side: int = 1200
    exact_operations: float = 4e9
    ascent_side: int = 3000
    gram_operations: float = 1e7
    largest_gram: int = 1500
    dense_eigen: int = 96
    lpgd_gram: int = 4000
    lpgd_sparse_gram: int = 1000

    def curvature_share(self, n_samples: int, columns: int, n_outputs: int) -> float:
        """The share of the samples whose curvature is summed up: some of them say enough.

        The curvature of all of them costs n(mκ)² operations, which at large n is many times the gradient's;
        from 64 rows a column its error is about an eighth. This keeps a step linear in n and in κ.
        """
        unknowns = max(columns * n_outputs, 1)
        fewest = self.fewest_curvature_rows / min(n_outputs, 4)  # a row counts once for each output
        rows = max(self.rows_a_column * columns, self.curvature_gradients * n_samples / unknowns, fewest)
        return rows / n_samples if 2 * rows < n_samples else 1.0

    def compression_pays(self, shape: tuple[int, int], stored: int | None = None) -> bool:
        """Whether to decompose the Gram matrix of X (n, p); sparse X holds so many values."""
        n, p = shape
        if p < 2 * n or n > self.compressed_side:
            return False
        products = n * p * self.products_a_value if stored is None else stored * self.products_a_sparse_value
        return 10 * n**3 <= products

    def dense_operations(self, rows: float, columns: int, n_outputs: int) -> float:
        """About what a dense Newton system of all coefficients costs: its matrix, and its factorization."""
        unknowns = columns * n_outputs
        if unknowns > self.largest_system:
            return float("inf")
        return self.a_question + self.dense_loss * (rows * unknowns**2 + 2 / 3 * unknowns**3)

    def product_operations(self, rows: float, columns: int, n_outputs: int) -> float:
        """About what conjugate gradients cost instead: products with the design and its transpose."""
        product = self.a_question + 8.0 * rows * columns * n_outputs
        return self.expected_products * product
