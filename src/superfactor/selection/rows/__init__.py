"""X as each fold sees it: preprocessed by its training part, in few coordinates of that."""
