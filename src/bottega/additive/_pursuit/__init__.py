"""Projection pursuit: coordinates, ridge functions, directions, and the walk over the terms."""
