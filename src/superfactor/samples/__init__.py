"""The samples of a problem: typed calls that return sums over them.

=============== ===================================================================================
file            content
=============== ===================================================================================
``annotations`` data of samples other than X: targets, covariates, weights
``block/``      some of the samples, and all methods on them
``samples``     all samples: calls to blocks, and sums of the results
``memory``      blocks of an X in memory, and subsamples
``passes``      blocks that read their rows of X for each pass
``vectors``     vectors of the search side: plain arrays, and handles of tall matrices
``moments``     moments of features and scores: means, variances, covariances
``transfer``    arguments to another device, and sums back
=============== ===================================================================================
"""

from superfactor.samples.annotations import Annotations, SampleTable
from superfactor.samples.block import Along, Block, Design, Made, Place
from superfactor.samples.memory import in_memory, subsample
from superfactor.samples.moments import Moments, moments_of
from superfactor.samples.passes import in_passes
from superfactor.samples.samples import Call, Changes, LocalSamples, Samples, added
from superfactor.samples.vectors import Plain, Tall, Vectors

__all__ = [
    "Along",
    "Annotations",
    "Block",
    "Call",
    "Changes",
    "Design",
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
