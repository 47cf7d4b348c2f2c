"""scikit-learn transformers for real tables, to place before a model in a Pipeline.

================ ===============================================================================
file             idea
================ ===============================================================================
``low_rank``     ``LowRankImputer``: fills missing values from factors of the observed ones
``completion``   the iteration of ``LowRankImputer``
``masking``      its number of factors: observed entries are hidden and predicted
``missing``      ``describe_missing``: where values are missing, in sentences
``confounders``  ``Adjuster``: subtracts what a batch explains of the features
``levels``       confounders as numbers: indicators of all levels
``blocks``       ``BlockScaler``: gives tables side by side equal weight
``joining``      ``join_blocks``: joins tables of the same samples
``columns``      columns of a user's table, by name or position
``cells``        cells of a column: text, numbers or missing
================ ===============================================================================
"""

from typing import TYPE_CHECKING, Any

from superfactor._deprecated import warn_deprecated
from superfactor.preprocessing.blocks import BlockScaler
from superfactor.preprocessing.confounders import Adjuster
from superfactor.preprocessing.joining import JoinedBlocks, join_blocks
from superfactor.preprocessing.low_rank import LowRankImputer
from superfactor.preprocessing.missing import MissingValues, describe_missing

__all__ = [
    "Adjuster",
    "BlockScaler",
    "JoinedBlocks",
    "LowRankImputer",
    "MissingValues",
    "describe_missing",
    "join_blocks",
]

if not TYPE_CHECKING:  # type checkers report the old names

    def __getattr__(name: str) -> Any:
        """Return `MissingValues` and `describe_missing` by their names in superfactor 1.1."""
        new = {"Gaps": "MissingValues", "describe_gaps": "describe_missing"}.get(name)
        if new is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        warn_deprecated(f"superfactor.preprocessing.{name}", f"superfactor.preprocessing.{new}")
        return globals()[new]
