"""Solvers that several methods share: coordinate descent, proximal Newton."""
