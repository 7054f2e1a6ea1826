"""Engines: other processes of this machine, and Dask clusters."""
