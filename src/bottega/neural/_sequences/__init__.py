"""Sequences of equal and unequal length, as rows."""
