"""The machinery of k-means: rows to pass over, starts, Lloyd's algorithm, what judges it."""
