"""Trees: grown best-first, pruned along one nested path, read as rules."""

import bottega.tree.rules as rules
import bottega.tree.tree_code as tree_code
from bottega.core.entropy import entropy
from bottega.tree.classifier import TreeClassifier
from bottega.tree.partition import guillotine
from bottega.tree.regressor import TreeRegressor

__all__ = [  # made by docs/generate.py
    "TreeClassifier",
    "TreeRegressor",
    "entropy",
    "guillotine",
    "rules",
    "tree_code",
]
