"""scikit-learn transformers for tables as people have them, to stand before a model in a Pipeline.

================ ===============================================================================
file             idea
================ ===============================================================================
``low_rank``     ``LowRankImputer``: gaps are filled from the factors of what is observed
``completion``   the iteration behind it
``gaps``         ``describe_gaps``: where values are missing, in words
``confounders``  ``Adjuster``: what a batch explains of the features leaves them
``levels``       confounders as numbers: indicators of all levels
``blocks``       ``BlockScaler``: tables side by side, none of which drowns the others
``joining``      ``join_blocks``: tables of the same samples as one
``columns``      columns of a user's table, by name or position
``cells``        what is in them: words, numbers, nothing
================ ===============================================================================
"""

from superfactor.preprocessing.blocks import BlockScaler
from superfactor.preprocessing.confounders import Adjuster
from superfactor.preprocessing.gaps import Gaps, describe_gaps
from superfactor.preprocessing.joining import JoinedBlocks, join_blocks
from superfactor.preprocessing.low_rank import LowRankImputer

__all__ = [
    "Adjuster",
    "BlockScaler",
    "Gaps",
    "JoinedBlocks",
    "LowRankImputer",
    "describe_gaps",
    "join_blocks",
]
