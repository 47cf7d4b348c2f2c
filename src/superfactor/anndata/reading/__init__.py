"""Read from an AnnData: cells, the matrix and a check of it, and the outcome."""
