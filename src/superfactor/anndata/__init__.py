"""Supervised factors for scanpy users: AnnData in, results written where scanpy looks for them.

=========== ======================================================================================
file        idea
=========== ======================================================================================
``tl``      ``smf`` fits and writes to an AnnData, ``project`` scores new cells; the other tools
``pl``      ``factors`` and ``samples`` draw what was written
``reading`` reads from an AnnData: the matrix and a check of it, genes, covariates, outcome
``fitting`` the estimator or search for a kind of outcome, and how to repeat a fit
``refits``  ``report`` and ``stable_features``, which fit the model again
``writing`` writes results for cells and genes, by the kind of outcome
``colors``  values that colour the cells: a column, a gene, the outcome
``ranking`` markers of each class in the form of scanpy's ``rank_genes_groups``
``record``  a fitted model as a plain dictionary that an .h5ad file holds, and back
=========== ======================================================================================

    import superfactor.anndata as sfa

    sfa.tl.smf(adata, label="cell_type")
    sfa.pl.factors(adata)

It needs ``pip install "superfactor[anndata]"``, and scanpy not at all.
"""

from superfactor.anndata import pl, tl

__all__ = ["pl", "tl"]
