"""Comparison with plain methods and with other fits.

============ ===================================================================
file         idea
============ ===================================================================
``svd``      the view of plain SVD
``plain``    similarity of a model to ridge regression and to principal components
``matching`` pairs of the most similar factors of two views
============ ===================================================================
"""
