"""Adaptive splines: terms grown forwards from the data, and removed backwards."""
