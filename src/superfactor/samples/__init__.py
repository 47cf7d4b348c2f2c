"""Who holds the samples, and how to ask them: typed questions, answered by sums.

=============== ===================================================================================
file            idea
=============== ===================================================================================
``annotations`` what is known of samples besides X: targets, covariates, weights
``block``       some samples, and every question they answer
``samples``     all samples: questions to blocks, their answers added up
``moments``     how features go with scores: means, variances, covariances
``memory``      blocks of an X in memory
``passes``      blocks that read their rows of X whenever they are asked
``store``       where a block keeps its rows of tall matrices
``vectors``     vectors of the search side, wherever they live
``tall``        handles of tall matrices
``subsample``   fewer samples
``travel``      how questions and sums travel to another device and back
=============== ===================================================================================
"""

from superfactor.samples.annotations import Annotations, SampleTable
from superfactor.samples.block import Along, Block, Design, Made, Place
from superfactor.samples.memory import in_memory
from superfactor.samples.moments import Moments, moments_of
from superfactor.samples.passes import in_passes
from superfactor.samples.samples import Call, Errands, LocalSamples, Samples, added
from superfactor.samples.subsample import subsample
from superfactor.samples.tall import Tall
from superfactor.samples.vectors import Plain, Vectors

__all__ = [
    "Along",
    "Annotations",
    "Block",
    "Call",
    "Design",
    "Errands",
    "LocalSamples",
    "Made",
    "Moments",
    "Place",
    "Plain",
    "SampleTable",
    "Samples",
    "Tall",
    "Vectors",
    "added",
    "in_memory",
    "in_passes",
    "moments_of",
    "subsample",
]
