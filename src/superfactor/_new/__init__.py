"""A second core beside the old one: estimators switch to it when it has everything, and the old one goes.

It replaces spectrum, samples, problem, subspace, solvers, theory and units. Imports point down:

================= ========================================================================================
file              idea
================= ========================================================================================
``stationarity``  gradient of the lifted problem, gradient mapping
``constants``     μ, L, step sizes and rate of the convergence theorem
``bcd``           block coordinate descent over the factors
``lpgd``          Algorithm 1 of the paper, for F and for any smooth objective
``thin``          its state without arrays of the size of X
``answer``        solutions in the user's units; starts of one's own, checkpoints, paths
``solve``         the default solver: descent and growth of the subspace, other starts
``starts``        PCA, ridge regressions and random subspaces as starts
``certificate``   the lower bound at given activations, and what rounding can change
``problem``       F in the user's units
``units``         weights given as "auto"
``newton``        the problem inside a subspace, and its Newton step
``subspace``      an orthonormal basis that grows
``models``        on which side of X the subspace lies
``compression``   wide X by its coordinates
``eigen``         leading eigenvectors
``conjugate``     conjugate gradients for several systems at once
``rows``          samples and their products with X, in blocks
``tall``          products of tall and small arrays
================= ========================================================================================
"""
