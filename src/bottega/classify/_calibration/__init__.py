"""The scores of a classifier that are mapped to probabilities."""
