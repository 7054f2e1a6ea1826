"""Compiled loops of the classifiers."""
