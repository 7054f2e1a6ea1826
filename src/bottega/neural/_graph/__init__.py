"""Operations of a computational graph, and derivatives written out as expressions."""
