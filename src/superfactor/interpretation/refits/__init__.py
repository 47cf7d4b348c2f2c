"""Refits: what returns, and what holds for samples that the model had not seen.

============== =======================================================================
file           idea
============== =======================================================================
``refitting``  a whole model fitted again to some of the samples
``resampling`` refits on parts of the samples, factors matched to the fit
``held_out``   scores of samples not seen, and what factors are good for there
``progress``   silence, a bar, or a function of the user's; what takes too long unasked
============== =======================================================================
"""
