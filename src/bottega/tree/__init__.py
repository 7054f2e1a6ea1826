"""Trees: grown best-first, pruned along one nested path, read as rules."""

from bottega.tree.classifier import TreeClassifier
from bottega.tree.impurity import entropy
from bottega.tree.partition import guillotine
from bottega.tree.regressor import TreeRegressor

__all__ = ["TreeClassifier", "TreeRegressor", "entropy", "guillotine"]
