"""The machinery of normal mixtures: starts, E and M steps by family, missing values, answers."""
