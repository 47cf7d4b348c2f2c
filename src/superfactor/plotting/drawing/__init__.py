"""Private helpers of the Displays.

================ =========================================================
file             idea
================ =========================================================
``palette``      colours and shapes of classes and lines
``figures``      figures, panels, captions and legends
``lettering``    names that fit their space
``sides``        names at both sides of a plot
``factor_panel`` one panel of ``factors``: bars, marks and notes
``positions``    scores of samples: held out, of the fit, or new
================ =========================================================
"""
