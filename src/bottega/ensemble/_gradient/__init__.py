"""Machinery of gradient boosting."""
