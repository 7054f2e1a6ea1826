"""The rows that folds held out, and what is computed from them."""
