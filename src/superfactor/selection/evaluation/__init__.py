"""Evaluation: how well a whole procedure predicts, compared with baselines, and the verdict."""
