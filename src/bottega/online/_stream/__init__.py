"""Rows that arrive block by block, wherever they come from."""
