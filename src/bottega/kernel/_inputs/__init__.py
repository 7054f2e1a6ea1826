"""The points that kernel methods read: rows of numbers, objects, or a matrix of kernels."""
