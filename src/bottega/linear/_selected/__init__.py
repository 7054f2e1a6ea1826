"""Results of linear models that select their columns."""
