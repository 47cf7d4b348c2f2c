"""Who holds the samples, and how to ask them: typed questions, answered by sums.

=============== ===================================================================================
file            idea
=============== ===================================================================================
``annotations`` what is known of samples besides X: targets, covariates, weights
``block/``      some samples, and every question they answer
``samples``     all samples: questions to blocks, their answers added up
``memory``      blocks of an X in memory, and fewer samples of any
``passes``      blocks that read their rows of X whenever they are asked
``vectors``     vectors of the search side: plain arrays, and handles of tall matrices
``moments``     how features go with scores: means, variances, covariances
``travel``      how questions and sums travel to another device and back
=============== ===================================================================================
"""

from superfactor.samples.annotations import Annotations, SampleTable
from superfactor.samples.block import Along, Block, Design, Made, Place
from superfactor.samples.memory import in_memory, subsample
from superfactor.samples.moments import Moments, moments_of
from superfactor.samples.passes import in_passes
from superfactor.samples.samples import Call, Errands, LocalSamples, Samples, added
from superfactor.samples.vectors import Plain, Tall, Vectors

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
