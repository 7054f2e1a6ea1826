"""Random forests: growing trees on samples of rows, packing them, judging and reading them."""
