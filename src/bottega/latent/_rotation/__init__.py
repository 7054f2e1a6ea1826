"""Rotations of loadings to simple structure."""
