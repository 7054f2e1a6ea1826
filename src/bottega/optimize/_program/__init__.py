"""Linear and quadratic programs: conditions read, certificates, answers made exact."""
