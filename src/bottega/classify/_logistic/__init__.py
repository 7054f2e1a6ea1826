"""Logistic regression: prepared rows, their folds, and what is known of a fit without a penalty."""
