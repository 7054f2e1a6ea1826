"""Local polynomials: rows, windows, weight functions, fits to all rows or to bins."""
