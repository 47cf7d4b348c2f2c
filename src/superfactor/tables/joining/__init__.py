"""Several files about the same samples."""
