"""Growing: inputs as columns or bins, and the search for splits."""
