"""Solvers that several methods share, with plain arrays in and out.

Coordinate descent and proximal Newton steps for penalised models; interior points, projections and
exact least squares for losses in a convex region; linear and quadratic programs; the exact search
for half spaces; expectation-maximisation.
"""

from bottega.optimize.em import Ascent, em
from bottega.optimize.projections import onto_ball, onto_box, onto_l1_ball, onto_simplex

__all__ = ["Ascent", "em", "onto_ball", "onto_box", "onto_l1_ball", "onto_simplex"]
