"""Several classes by classifiers of two: codes of the classes, and probabilities from pairs."""
