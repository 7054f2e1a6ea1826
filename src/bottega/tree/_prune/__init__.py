"""Pruning: the sequence of nested subtrees, and how the size of a tree is chosen."""
