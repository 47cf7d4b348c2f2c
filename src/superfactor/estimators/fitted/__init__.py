"""What a fitted model does: codes and activations of new samples, weights of columns, factors, a record."""
