"""Splines of one input: knots, bases, curves, and what their estimators share."""
