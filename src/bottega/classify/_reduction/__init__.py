"""Several classes by classifiers of two: binary problems, and codes of the classes."""
