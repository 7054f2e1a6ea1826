"""Kernel objects: what they share, and those made of others."""
