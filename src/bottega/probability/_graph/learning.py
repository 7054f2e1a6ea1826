"""Tables from rows of data: shares of the states, with a Dirichlet prior."""

from collections.abc import Mapping
from math import prod
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.errors import InputError, ParameterError, did_you_mean
from bottega.core.frames import is_frame
from bottega.core.params import Real
from bottega.core.typing import FloatArray, IntArray
from bottega.probability._graph.structure import Graph

__all__ = ["PseudoCounts", "pseudo_counts", "read_states", "shares"]


class PseudoCounts(Real):
    """A number, or a mapping of names to numbers and arrays, which `pseudo_counts` checks."""

    def accepts(self, value: Any) -> bool:
        """Return True if `value` is a number inside the interval, or a mapping."""
        return isinstance(value, Mapping) or super().accepts(value)

    def describe(self) -> str:
        """Return the interval in words."""
        return f"{super().describe()}, or a mapping of names to such numbers"


def read_states(X: Any, graph: Graph) -> IntArray:
    """Return the codes of the states, one column per variable; other columns are ignored."""
    if not is_frame(X):
        raise InputError(f"fit needs a data frame; got {type(X).__name__}.")
    data = nw.from_native(X, eager_only=True)
    codes = np.empty((len(data), len(graph.parents)), dtype=np.intp)
    for j, name in enumerate(graph.parents):
        if name not in data.columns:
            raise InputError(f"The data have no column {name!r}.{did_you_mean(name, data.columns)}")
        codes[:, j] = [graph.code(name, state) for state in data[name].to_list()]
    return codes


def pseudo_counts(smoothing: Any, graph: Graph) -> dict[str, FloatArray]:
    """Return the parameters of each table's Dirichlet priors, in the shape of the table."""
    if not isinstance(smoothing, Mapping):
        return {name: np.full(graph.shape(name), float(smoothing)) for name in graph.parents}
    for name in smoothing:
        if name not in graph.parents:
            raise ParameterError(
                f"smoothing names {name!r}, which is no variable."
                f"{did_you_mean(str(name), graph.parents)}"
            )
    return {name: _pseudo_count(name, smoothing.get(name, 1.0), graph) for name in graph.parents}


def _pseudo_count(name: str, given: Any, graph: Graph) -> FloatArray:
    shape = graph.shape(name)
    try:
        found = np.broadcast_to(np.array(given, dtype=np.float64), shape)
    except (TypeError, ValueError):
        raise ParameterError(
            f"smoothing of {name!r} must be a number, one per state, or an array of the shape of "
            f"its table, {shape}; got {given!r}."
        ) from None
    if not np.all(np.isfinite(found) & (found >= 0)):
        raise ParameterError(
            f"smoothing of {name!r} must be {Real(0.0).describe()} throughout; got {given!r}."
        )
    return found


def shares(name: str, codes: Mapping[str, IntArray], prior: FloatArray, graph: Graph) -> FloatArray:
    """Return the expected table given the data: counts and pseudo-counts, as shares of each row."""
    axes, shape = (*graph.parents[name], name), graph.shape(name)
    cells = np.ravel_multi_index(tuple(codes[each] for each in axes), shape)
    counts = np.bincount(cells, minlength=prod(shape)).reshape(shape) + prior
    totals = counts.sum(axis=-1, keepdims=True)
    if not np.all(totals > 0):
        empty = np.argwhere(totals[..., 0] == 0)[0]
        where = ", ".join(
            f"{each}={graph.states[each][code]!r}"
            for each, code in zip(graph.parents[name], empty, strict=True)
        )
        raise InputError(
            f"No row of the data has {where or 'any state'}, so the table of {name!r} is not "
            "known there; give more rows, or smoothing > 0."
        )
    return np.asarray(counts / totals)
