"""Fitted models: codes and activations of new samples, weights of columns, scores of factors, records."""
