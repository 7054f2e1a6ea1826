"""What the columns of a frame hold: values, kinds, roles, what gives the target away."""
