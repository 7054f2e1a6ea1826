"""Surfaces over a few inputs: points, thin plates, tensor products, the convex hull."""
