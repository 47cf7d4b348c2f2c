"""What the columns of a table become."""
