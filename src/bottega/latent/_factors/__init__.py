"""Maximum likelihood of factor analysis."""
