"""Reading a fitted tree: rules, cells, importance, pictures."""
