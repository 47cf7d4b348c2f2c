"""What is read of an AnnData: cells, numbers, the outcome, and whether X looks as it should."""
