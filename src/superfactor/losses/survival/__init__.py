"""The loss of survival times: risk sets, the partial likelihood, and an anchor for the intercept."""
