"""Up to how many rows a table is small: what takes long with more is then done in full."""

__all__ = ["SMALL"]

SMALL = 20_000
