"""X and what accompanies its samples, as the user brings them.

=========== ================================================================================
file        idea
=========== ================================================================================
``data``    X: an array, a sparse matrix or a source of rows, checked once
``beside``  covariates, weights and codes
``columns`` which columns of X are covariates, and what they are called
``arrays``  arrays of any library: which one, rows and columns, block by block
``placing`` ``device=``: there and back
=========== ================================================================================
"""

from superfactor.estimators.inputs.arrays import (
    among,
    as_numpy,
    block_cuts,
    by_blocks,
    is_foreign,
    like,
    take,
)
from superfactor.estimators.inputs.beside import (
    check_codes,
    check_covariates,
    check_length,
    check_same_names,
    check_weights,
)
from superfactor.estimators.inputs.columns import (
    check_exposures,
    column_names,
    covariate_indices,
    exposure_index,
    exposures_in,
    names_without,
    split_apart,
    split_columns,
)
from superfactor.estimators.inputs.data import check_data, check_numbers, check_rows, refuse_annotated

__all__ = [
    "among",
    "as_numpy",
    "block_cuts",
    "by_blocks",
    "check_codes",
    "check_covariates",
    "check_data",
    "check_exposures",
    "check_length",
    "check_numbers",
    "check_rows",
    "check_same_names",
    "check_weights",
    "column_names",
    "covariate_indices",
    "exposure_index",
    "exposures_in",
    "is_foreign",
    "like",
    "names_without",
    "refuse_annotated",
    "split_apart",
    "split_columns",
    "take",
]
