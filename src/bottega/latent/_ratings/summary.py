"""Components of ratings in words."""

from typing import Any

import numpy as np

from bottega.core.tables import Section, Summary

__all__ = ["summary_of"]

_NAMED = 3  # items that a component is described by, at each end


def summary_of(model: Any) -> Summary:
    """Return the components of a fitted `MatrixFactorization`, with the items at their ends."""
    factors, names = model.item_factors_, [str(label) for label in model.items_.tolist()]
    few = min(_NAMED, len(names) // 2) or 1
    order = np.argsort(-factors, axis=0, kind="stable")
    size = np.linalg.norm(model.user_factors_, axis=0) * np.linalg.norm(factors, axis=0)
    columns = {
        "component": list(range(factors.shape[1])),
        "size": size.tolist(),
        "items at its upper end": [", ".join(names[i] for i in c[:few]) for c in order.T],
        "items at its lower end": [", ".join(names[i] for i in c[::-1][:few]) for c in order.T],
    }
    entries, (n, m) = len(model._seen_items), (len(model.users_), len(model.items_))
    notes = [
        f"{entries:,} {'counts' if model.implicit else 'ratings'} of {n:,} users and {m:,} "
        f"items: {entries / (n * m):.2%} of all pairs"
    ]
    if not model.implicit:
        notes.append(f"mean rating {model.mean_:.4g}, root mean squared residual {model.rmse_:.4g}")
    return Summary("Factors of ratings", (Section("", columns),), tuple(notes))
