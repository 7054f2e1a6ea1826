"""Machinery of `AggregateProportions`."""
