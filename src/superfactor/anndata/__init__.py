"""Supervised factors for scanpy users: AnnData in, results written where scanpy looks for them.

=========== ======================================================================================
file        idea
=========== ======================================================================================
``tl``      ``smf`` fits and writes to an AnnData, ``project`` scores new cells, ``rank_genes_smf``
            ranks markers
``pl``      ``factors`` and ``samples`` draw what was written
``matrix``  the numbers of an AnnData: X or a layer, some genes, scaled, in memory or on disk
``cells``   what of an AnnData is asked for and where it is: labels, covariates, modalities
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
