"""Some samples of a problem, and the questions they answer.

A block holds n_b samples: their rows of X̃, their annotations, and their rows of tall matrices. Its
public methods are the questions that samples can be asked (`Samples`). None of them changes the block.
Answers are

- sums over the samples: numbers and arrays without an n_b among their dimensions, alone or in a tuple;
- rows (n_b, j), to be kept with the samples, or gathered;
- `Made`: rows to be kept together with sums;
- what is to be gathered block by block, and says so.

Coefficients c (m, κ) act on the rows of a `Design` J (n, m): a = Jc, plus an offset where it has one. With
leading dimensions (…, m, κ) they are several points side by side, which share their products with J; answers
have the same leading dimensions.

============ ==========================================================================
file         questions
============ ==========================================================================
``state``    none: what a block holds, and what changes it
``store``    none: where a block keeps its rows of tall matrices
``facts``    what must be known before a problem can be stated
``design``   products with the design
``loss``     the loss on a design and its derivatives
``products`` products with X
``talls``    rows and products of tall matrices
``duals``    dual points
============ ==========================================================================
"""

from superfactor.samples.block.design import Along, Design
from superfactor.samples.block.duals import DualQuestions
from superfactor.samples.block.facts import FactQuestions
from superfactor.samples.block.products import ProductQuestions
from superfactor.samples.block.state import READS, Made, Place
from superfactor.samples.block.talls import TallQuestions

__all__ = ["READS", "Along", "Block", "Design", "Made", "Place"]


class Block(FactQuestions, ProductQuestions, TallQuestions, DualQuestions):
    """Answers questions about its samples."""
