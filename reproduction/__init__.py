"""The paper's figures and tables, and our own evidence: one module an experiment, one command each.

======================= =========================================================================
module                  what it makes
======================= =========================================================================
``mnist_convergence``   Figure 2a: Algorithm 1 on semi-synthetic MNIST
``job_convergence``     Figure 2b: Algorithm 1 on job postings
``lpgd_vs_bcd``         Figure 2c: Algorithm 1, block coordinate descent and the default solver
``microarray_accuracy`` Figure 3f: accuracies on cancer microarrays
``gene_groups``         Figure 3a-e: supervised beside unsupervised gene groups
``job_topics``          topics of the job postings beside those of LDA and NMF
``statistical``         Theorem 2: errors of A, B and γ as samples grow
``global_optimum``      ours: what is proven optimal, by the theorem, by the certificate, by neither
======================= =========================================================================

``experiment`` says what an experiment is given and gives back, ``writing`` puts it into files, ``drawing``
has what the figures share. What experiments are made of: ``fits``, the only way below the estimators;
``convergence/`` (curves, the release), ``genes/``, ``topics/``; and ``restarts``, an independent local
method.

A user of public names only. In a shell: ``python -m reproduction --list``.
"""

from reproduction.experiment import NAMES, TITLES, Outcome, Setting, load
from reproduction.writing import reproduce

__all__ = ["NAMES", "TITLES", "Outcome", "Setting", "load", "reproduce"]
