"""The lasso family: Gram matrices, folds, and what its estimators share."""
