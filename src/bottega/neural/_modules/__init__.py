"""Builders of PyTorch modules from descriptions: dictionaries of numbers, words and lists."""
