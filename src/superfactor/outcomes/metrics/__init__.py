"""Figures: metrics as values, those of probabilities and of survival, intervals, and absent classes."""
