"""Maps from the scores of a classifier to probabilities."""
