"""The same fit on a Dask cluster."""
