"""Join several files about the same samples."""
