"""Every public method of a block, with arguments, grouped by the kind of its result."""

import numpy as np
from tests.samples.block_world import TALL, K, N, P

from superfactor.samples import Along, Design, Place

KAPPA, M = 3, K + 3  # outputs; columns of the design: two covariates and the intercept
DUAL, BENT, DESIGN = Place(4, KAPPA), Place(8, 2 * KAPPA), Design(TALL)
_rng = np.random.default_rng(1)
COEF, T = 0.3 * _rng.standard_normal((M, KAPPA)), _rng.standard_normal((P, 2))
AT = DESIGN, COEF

SUMS = {
    "covariate_gram": (),
    "covariate_moments": (None,),
    "curvature": AT,
    "curvature_product": (DESIGN, BENT, COEF + 1),
    "design_gram": (DESIGN,),
    "digest": (),
    "dual_sizes": (DUAL,),
    "dual_terms": (DUAL,),
    "evaluate": AT,
    "gram_and_image": (TALL,),
    "gram_and_sum": (),
    "image": (TALL,),
    "imbalance": (DUAL, []),
    "inner": (TALL, DUAL),
    "power": (T,),
    "power_and_sum": (T,),
    "pull": AT,
    "rotation_curvature": (*AT, np.eye(M), COEF[:2]),
    "row_sum": (),
    "squared_norm": (),
    "total_weights": (),
    "working": AT,
}
MADE = {
    "bent": (DESIGN, COEF + _rng.standard_normal((4, M, KAPPA))),
    "grown": (T, TALL, Along(*AT, COEF[:2])),
    "images_and_bent": (np.ones((P, K)), TALL, Along(*AT, COEF[:K])),
    "refined": (TALL, np.ones((K, 2)), DUAL, np.ones((KAPPA, 2))),
    "scored": (np.ones((P, K)),),
    "some_of": (DESIGN, 1.0, False),
}
ROWS = {
    "activations": AT,
    "codes": (TALL, np.eye(K)),
    "combination": ([(TALL, np.eye(K))],),
    "dual_points": AT,
    "given": (np.ones((N, 2)),),
    "identity": (N,),
    "images": (np.eye(P),),
    "pulled": AT,
    "rebalanced": (DUAL, []),
    "residuals": AT,
    "roots": (),
    "rows_of": (TALL,),
    "softened": (TALL, np.ones((K, 2)), np.eye(2, K), Along(*AT, COEF[:2])),
    "view": AT,
    "weighted_dual": (DUAL,),
}
#: Results that depend on how the samples are divided, gathered block by block.
OTHERS = {
    "noise": (1, 2),
    "some_rows": (0.5,),
    "steepest": (None,),
    "stretch": (1, 4),
    "images_and_stretch": (T, 1, 4),
    "triangle": (TALL,),
    "weight_range": (),
}
METHODS = SUMS | MADE | ROWS | OTHERS
