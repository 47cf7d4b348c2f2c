"""Gene groups: which data, which factors, which known markers, and how they are drawn."""
