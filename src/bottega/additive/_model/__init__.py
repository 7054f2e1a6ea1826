"""The hooks of the additive models: reading rows, fitting along the path, results."""
