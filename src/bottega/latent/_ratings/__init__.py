"""Factors of a table of which few entries are known: how they are read, solved for and used."""
