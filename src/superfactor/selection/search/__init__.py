"""Rank and weights by cross-validation."""
