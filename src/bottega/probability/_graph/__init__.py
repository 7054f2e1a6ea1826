"""The graph beneath a network."""
