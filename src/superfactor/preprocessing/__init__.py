"""scikit-learn transformers for tables as people have them, to stand before a model in a Pipeline.

================ ===============================================================================
file             idea
================ ===============================================================================
``confounders``  ``Adjuster``: what a batch explains of the features leaves them
``levels``       confounders as numbers: indicators of all levels
``blocks``       ``BlockScaler``: tables side by side, none of which drowns the others
``joining``      ``join_blocks``: tables of the same samples as one
``columns``      columns of a user's table, by name or position
================ ===============================================================================
"""

from superfactor.preprocessing.blocks import BlockScaler
from superfactor.preprocessing.confounders import Adjuster
from superfactor.preprocessing.joining import JoinedBlocks, join_blocks

__all__ = ["Adjuster", "BlockScaler", "JoinedBlocks", "join_blocks"]
