"""Features, covariates and confounders from the columns of a table, and data checks."""
