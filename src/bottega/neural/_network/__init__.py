"""What all networks share as estimators: parameters, reading rows, paths, results."""
