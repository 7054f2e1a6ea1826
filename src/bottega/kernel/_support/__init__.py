"""Support vector machines: their problems, solutions, pairs of classes and probabilities."""
