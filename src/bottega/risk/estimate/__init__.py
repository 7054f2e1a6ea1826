"""Estimates of risk from rows that a model has not seen: folds, held-out parts, comparisons."""
