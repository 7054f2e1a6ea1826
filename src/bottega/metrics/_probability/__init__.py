"""Probabilities as they are judged: read with their classes, and put right by observed shares."""
