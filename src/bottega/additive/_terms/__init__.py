"""The terms of an additive model as columns and penalties."""
