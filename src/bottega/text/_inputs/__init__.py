"""Reading texts that a user gives."""
