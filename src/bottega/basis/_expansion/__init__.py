"""What the transformers share."""
