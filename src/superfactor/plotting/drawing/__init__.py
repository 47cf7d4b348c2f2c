"""What the Displays share: none of it is public.

================ =========================================================
file             idea
================ =========================================================
``palette``      colours and shapes of classes and lines
``figures``      figures, panels, captions and legends
``lettering``    names that fit
``sides``        names at both sides of a plot
``factor_panel`` one panel of ``factors``: bars, marks and notes
``positions``    where samples stand: held out, of the fit, or new
================ =========================================================
"""
