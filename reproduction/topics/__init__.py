"""Topics of texts by several methods, and how they are drawn."""
