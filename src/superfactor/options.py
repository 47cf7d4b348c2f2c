"""Sizes at which one method replaces another, each with its reason.

Buffer sizes and rounding thresholds are defined where they are used: they do not change the method.

A problem carries its options (`Problem.options`). To study a method, or to test it on small data, pass other
options to `superfactor.problem.state`. The defaults were measured on two cores.
"""

from __future__ import annotations

from dataclasses import dataclass

from superfactor._deprecated import renamed_attributes

__all__ = ["Options"]


@renamed_attributes(a_question="call_overhead")
@dataclass(frozen=True)
class Options:
    """Thresholds that select the method.

    Attributes
    ----------
    compressed_side : int
        X may be replaced by the rows of UΣ if it has at most this many samples and at least twice as many
        features. Below that ratio, compression does not make products with X cheaper.
    products_a_value, products_a_sparse_value : float
        X is compressed if decomposing the Gram matrix takes no more operations than the products of a fit:
        this many for each stored value of X. Sparse products are slower per value than dense ones.
    few_features : int
        Up to this many features, their Gram matrix costs less than the products with X that it saves.
    rows_a_block : int
        Rows whose part of the loss and its derivatives stays in a core's cache.
    values_worth_threads : int
        With fewer stored values of sparse X, a thread pool costs more than it gains.
    whole_range : int
        Up to this dimension of X's range (or four times the rank), the search uses the whole range at once.
        A growing subspace would take more products.
    largest_system : int
        Largest number of unknowns of a dense Newton system. Its matrix grows with the square, and the time
        to factor it with the third power.
    call_overhead : float
        Overhead of one call to the samples, in operations.
    dense_loss : float
        Time of one operation in a dense system, relative to one in a product with the samples.
    values_worth_coarse : int
        From this many values of a design on, conjugate gradients compute in float32.
    expected_products : int
        Expected products of conjugate gradients for one step, compared with the cost of a dense system.
    rows_a_column, fewest_curvature_rows, curvature_gradients : int
        The curvature is summed over a subsample if n is at least twice its size. The subsample has at least
        this many samples per column of the design, at least this many in total, or as many as cost this
        number of gradients. Gradients are exact and correct the error.
    subsample_ratio : int
        A search begins with a subsample if there are at least this many times more samples.
    subsample_memory : float
        Largest share of scikit-learn's ``working_memory`` that the rows of this subsample may take.
    fewest_subsample : int
        Smallest size of this subsample.
    enough_subsample, enough_a_feature : int
        Largest size of this subsample: the larger of the first, and the second times the features.
    exact_side, exact_operations : int
        The certificate decomposes the Gram matrix of the smaller side up to this size and this many
        operations. Beyond, the solver's basis bounds the sum of eigenvalues.
    ascent_side : int
        The same limit when the bound is ascended, where the decomposition is used hundreds of times.
    gram_operations, largest_gram : float
        The constants of the theorem come from a Gram matrix up to this much work (or 64 columns), and its
        smallest eigenvalue up to this size. Beyond, they come from Lanczos, with zero as the lower end.
    dense_eigen : int
        Up to this size a matrix is decomposed as a whole. Beyond, its leading eigenvectors come from a
        Krylov or Davidson basis.
    lpgd_gram, lpgd_sparse_gram : int
        Algorithm 1 decomposes the smaller Gram matrix up to this size, dense or sparse. Beyond, its steps
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
    call_overhead: float = 1.5e7
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
        """Return the share of samples over which the curvature is summed.

        The curvature of all samples costs n(mκ)² operations: at large n many times the gradient's. With 64
        rows per column its error is about an eighth. The limit keeps a step linear in n and in κ.
        """
        unknowns = max(columns * n_outputs, 1)
        fewest = self.fewest_curvature_rows / min(n_outputs, 4)  # a row counts once per output
        rows = max(self.rows_a_column * columns, self.curvature_gradients * n_samples / unknowns, fewest)
        return rows / n_samples if 2 * rows < n_samples else 1.0

    def is_wide(self, shape: tuple[int, int]) -> bool:
        """Return whether X (n, p) has so few samples that a matrix of all their products is small."""
        n, p = shape
        return p >= 2 * n and n <= self.compressed_side

    def compression_pays(self, shape: tuple[int, int], stored: int | None = None) -> bool:
        """Return whether to decompose the Gram matrix of X (n, p); sparse X has `stored` values."""
        n, p = shape
        if not self.is_wide(shape):
            return False
        products = n * p * self.products_a_value if stored is None else stored * self.products_a_sparse_value
        return 10 * n**3 <= products

    def dense_operations(self, rows: float, columns: int, n_outputs: int) -> float:
        """Estimate the cost of a dense Newton system of all coefficients: its matrix and factorization."""
        unknowns = columns * n_outputs
        if unknowns > self.largest_system:
            return float("inf")
        return self.call_overhead + self.dense_loss * (rows * unknowns**2 + 2 / 3 * unknowns**3)

    def product_operations(self, rows: float, columns: int, n_outputs: int) -> float:
        """Estimate the cost of conjugate gradients: products with the design and its transpose."""
        product = self.call_overhead + 8.0 * rows * columns * n_outputs
        return self.expected_products * product
