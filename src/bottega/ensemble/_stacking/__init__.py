"""Stacking: predictions of rows left out, and the weights learnt on them."""
