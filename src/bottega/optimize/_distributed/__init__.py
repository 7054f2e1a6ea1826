"""Work shared among processes: the data in common memory, one loop per worker, one scheme each."""
