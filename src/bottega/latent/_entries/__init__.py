"""Entries of a table that are held out, to judge what fills them in."""
