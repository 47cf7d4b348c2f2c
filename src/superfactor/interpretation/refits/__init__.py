"""Refits: stability of factors and features, and results on held-out samples.

============== =======================================================================
file           idea
============== =======================================================================
``refitting``  a whole model fitted again to some of the samples
``resampling`` refits on subsamples, with factors matched to the fit
``held_out``   scores of held-out samples, and the use of each factor there
``progress``   progress bars, parallel fits, and a time limit for optional work
============== =======================================================================
"""
