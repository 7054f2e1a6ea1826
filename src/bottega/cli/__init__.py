"""The command line: ``bottega compare``, ``predict``, ``methods``, ``warmup``."""
