"""Factors by name: what each holds, which features make it up, and whether it would come back.

============== =================================================================================
file           idea
============== =================================================================================
``view``       ``FactorView``: factors in a fixed order and sign
``rotation``   varimax
``models``     what counts as a fitted model, and the names of its features
============== =================================================================================
"""

from superfactor.interpretation.view import FactorView, factor_view

__all__ = ["FactorView", "factor_view"]
