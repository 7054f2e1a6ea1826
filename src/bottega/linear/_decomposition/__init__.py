"""Least-squares problems decomposed once: centring, singular values, triangles, leave-one-out."""
