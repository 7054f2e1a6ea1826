"""How neighbours are searched for, and what estimators by neighbours share."""
