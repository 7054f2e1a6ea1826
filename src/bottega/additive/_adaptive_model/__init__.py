"""Adaptive splines as estimators: coefficients of the chosen terms, and what they tell."""
