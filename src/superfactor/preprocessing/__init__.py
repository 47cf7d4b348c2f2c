"""scikit-learn transformers for real tables, to place before a model in a Pipeline.

================ ===============================================================================
file             idea
================ ===============================================================================
``low_rank``     ``LowRankImputer``: fills missing values from factors of the observed ones
``completion``   the iteration of ``LowRankImputer``
``masking``      its number of factors: observed entries are hidden and predicted
``missing``      ``describe_gaps``: where values are missing, in sentences
``confounders``  ``Adjuster``: subtracts what a batch explains of the features
``levels``       confounders as numbers: indicators of all levels
``blocks``       ``BlockScaler``: gives tables side by side equal weight
``joining``      ``join_blocks``: joins tables of the same samples
``columns``      columns of a user's table, by name or position
``cells``        cells of a column: text, numbers or missing
================ ===============================================================================
"""

from superfactor.preprocessing.blocks import BlockScaler
from superfactor.preprocessing.confounders import Adjuster
from superfactor.preprocessing.joining import JoinedBlocks, join_blocks
from superfactor.preprocessing.low_rank import LowRankImputer
from superfactor.preprocessing.missing import Gaps, describe_gaps

__all__ = [
    "Adjuster",
    "BlockScaler",
    "Gaps",
    "JoinedBlocks",
    "LowRankImputer",
    "describe_gaps",
    "join_blocks",
]
