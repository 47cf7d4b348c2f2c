"""Check X and the arrays that accompany its samples.

=============== ============================================================================
file            idea
=============== ============================================================================
``data``        X: an array, a sparse matrix or a source of rows, checked once
``sample_data`` covariates, sample weights and codes
``columns``     which columns of X are covariates or exposures, and their names
``arrays``      arrays of any library: selecting rows and columns, reading block by block
``devices``     ``device=``: move X to a device and the results back
=============== ============================================================================
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
from superfactor.estimators.inputs.data import (
    check_data,
    check_numbers,
    check_rows,
    counted_missing,
    refuse_other_objects,
)
from superfactor.estimators.inputs.sample_data import (
    check_codes,
    check_covariates,
    check_length,
    check_same_names,
    check_weights,
)

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
    "counted_missing",
    "covariate_indices",
    "exposure_index",
    "exposures_in",
    "is_foreign",
    "like",
    "names_without",
    "refuse_other_objects",
    "split_apart",
    "split_columns",
    "take",
]
