"""Leading directions of a matrix, found once for every method that needs them."""
