"""Some samples of a problem, and the methods that `Samples` calls on them.

A block holds n_b samples: their rows of X̃, their annotations, and their rows of tall matrices. Its public
methods do not change the block. They return

- sums over the samples: numbers and arrays without a dimension n_b, alone or in a tuple;
- rows (n_b, j), to be stored with the samples, or gathered;
- `Made`: rows to be stored, together with sums;
- results to be gathered block by block, where the docstring says so.

Coefficients c (m, κ) act on the rows of a `Design` J (n, m): a = Jc, plus an offset if it has one. With
leading dimensions (…, m, κ) they are several points, which share their products with J. Results have the same
leading dimensions.

============ ==========================================================================
file         methods
============ ==========================================================================
``state``    none: the data of a block, and how to change it
``store``    none: storage of the rows of tall matrices
``facts``    sums that a problem is stated with
``design``   products with the design
``loss``     the loss on a design and its derivatives
``products`` products with X
``talls``    rows and products of tall matrices
``duals``    dual points
============ ==========================================================================
"""

from superfactor.samples.block.design import Along, Design
from superfactor.samples.block.duals import DualMethods
from superfactor.samples.block.facts import FactMethods
from superfactor.samples.block.products import ProductMethods
from superfactor.samples.block.state import READS, Made, Place
from superfactor.samples.block.talls import TallMethods

__all__ = ["READS", "Along", "Block", "Design", "Made", "Place"]


class Block(FactMethods, ProductMethods, TallMethods, DualMethods):
    """Some samples, with all methods that return sums or rows of them."""
