"""Maximum likelihood of any distribution: its parameters, the search, profiles."""
