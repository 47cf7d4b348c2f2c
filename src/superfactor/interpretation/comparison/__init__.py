"""Comparison: factors beside those of plain methods, and of other fits.

============ ===================================================================
file         idea
============ ===================================================================
``svd``      the view of plain SVD
``plain``    how near a model is to ridge regression and to principal components
``matching`` which factor of one view is which of another
============ ===================================================================
"""
