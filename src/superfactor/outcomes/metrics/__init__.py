"""Metrics of probabilities and of survival, confidence intervals, and scores with absent classes."""
