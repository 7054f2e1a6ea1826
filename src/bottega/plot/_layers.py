"""Where to draw the nodes of a directed graph without cycles: in layers, parents above children."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from bottega.core.typing import FloatArray

__all__ = ["layered"]

_SWEEPS = 12
_GAP = 22.0  # pixels between neighbours of a layer
_BEND = 10.0  # width that an edge takes where it passes a layer

Item = str | tuple[str, str, int]  # a node, or the place where an edge passes a layer


def layered(
    parents: Mapping[str, Sequence[str]], width: Mapping[str, float]
) -> tuple[dict[Item, tuple[float, int]], dict[tuple[str, str], list[Item]]]:
    """Return the place of each node (pixels across, layer), and the points of each edge.

    The layers are those of the longest paths; the order in a layer is the one with the fewest
    crossings among those that sweeps of barycentres find; the places across are as near to those
    of the neighbours as the widths allow.

    Examples
    --------
    >>> places, _ = layered({"a": [], "b": ["a"]}, {"a": 10, "b": 10})
    >>> places["a"][1], places["b"][1]
    (0, 1)
    """
    level = _levels(parents)
    depth = max(level.values()) + 1
    layers: list[list[Item]] = [[] for _ in range(depth)]
    up: dict[Item, list[Item]] = {}
    down: dict[Item, list[Item]] = {}
    for name in parents:
        layers[level[name]].append(name)
    edges: dict[tuple[str, str], list[Item]] = {}
    for child, above in parents.items():
        for parent in above:
            between = range(level[parent] + 1, level[child])
            bends: list[Item] = [(parent, child, at) for at in between]
            for bend, at in zip(bends, between, strict=True):
                layers[at].append(bend)
            points: list[Item] = [parent, *bends, child]
            edges[parent, child] = points
            for first, second in pairwise(points):
                down.setdefault(first, []).append(second)
                up.setdefault(second, []).append(first)
    _untangle(layers, up, down)
    half = {
        item: (width[item] if isinstance(item, str) else _BEND) / 2
        for each in layers
        for item in each
    }
    x = _across(layers, up, down, half)
    return {item: (x[item], at) for at, each in enumerate(layers) for item in each}, edges


def _levels(parents: Mapping[str, Sequence[str]]) -> dict[str, int]:
    level: dict[str, int] = {}
    children: dict[str, list[str]] = {name: [] for name in parents}
    for name, above in parents.items():
        for parent in above:
            children[parent].append(name)
    waiting = {name: len(above) for name, above in parents.items()}
    ready = [name for name, count in waiting.items() if count == 0]
    order = []
    while ready:
        name = ready.pop(0)
        order.append(name)
        level[name] = max((level[each] + 1 for each in parents[name]), default=0)
        for child in children[name]:
            waiting[child] -= 1
            if waiting[child] == 0:
                ready.append(child)
    for name in reversed(order):  # a root stands just above its first child
        if not parents[name] and children[name]:
            level[name] = min(level[child] for child in children[name]) - 1
    return level


def _untangle(
    layers: list[list[Item]], up: dict[Item, list[Item]], down: dict[Item, list[Item]]
) -> None:
    """Sort each layer by the mean place of the neighbours above, then below, and so on."""
    best, fewest = [list(each) for each in layers], _crossings(layers, down)
    for sweep in range(_SWEEPS):
        near, order = (up, layers[1:]) if sweep % 2 == 0 else (down, layers[-2::-1])
        for layer in order:
            place = {item: i for each in layers for i, item in enumerate(each)}
            middle = {
                item: float(np.mean([place[n] for n in near[item]]))
                if item in near
                else place[item]
                for item in layer
            }
            layer.sort(key=middle.__getitem__)
        count = _crossings(layers, down)
        if count < fewest:
            best, fewest = [list(each) for each in layers], count
    layers[:] = best


def _crossings(layers: list[list[Item]], down: dict[Item, list[Item]]) -> int:
    found = 0
    for above, below in pairwise(layers):
        place = {item: i for i, item in enumerate(below)}
        ends = [
            place[to] for item in above for to in sorted(down.get(item, []), key=place.__getitem__)
        ]
        found += sum(a > b for i, a in enumerate(ends) for b in ends[i + 1 :])
    return found


def _across(
    layers: list[list[Item]],
    up: dict[Item, list[Item]],
    down: dict[Item, list[Item]],
    half: Mapping[Item, float],
) -> dict[Item, float]:
    x: dict[Item, float] = {}
    for layer in layers:
        place = 0.0
        for item in layer:
            place += half[item]
            x[item] = place
            place += half[item] + _GAP
        for item in layer:
            x[item] -= (place - _GAP) / 2
    for sweep in range(_SWEEPS):
        order = layers if sweep % 2 == 0 else layers[::-1]
        for layer in order:
            wanted, weight = [], []
            for item in layer:
                near = [*up.get(item, []), *down.get(item, [])]
                wanted.append(float(np.mean([x[n] for n in near])) if near else x[item])
                # An edge that passes several layers should pass them on one line.
                weight.append(1.0 if isinstance(item, str) else 4.0)
            for item, place in zip(layer, _apart(layer, wanted, weight, half), strict=True):
                x[item] = float(place)
    least = min(x[item] - half[item] for item in x)
    return {item: place - least for item, place in x.items()}


def _apart(
    layer: list[Item], wanted: list[float], weight: list[float], half: Mapping[Item, float]
) -> FloatArray:
    """Return the places nearest to the wanted ones, in their order and without overlap.

    With the least distances taken off, that is isotonic regression: neighbours in the wrong order
    are pooled.
    """
    offset = np.zeros(len(layer))
    for i in range(1, len(layer)):
        offset[i] = offset[i - 1] + half[layer[i - 1]] + half[layer[i]] + _GAP
    pools: list[tuple[float, float, int]] = []  # mean, weight, members
    for value, w in zip(np.array(wanted) - offset, weight, strict=True):
        pool = (float(value), w, 1)
        while pools and pools[-1][0] > pool[0]:
            mean, mass, count = pools.pop()
            total = mass + pool[1]
            pool = ((mean * mass + pool[0] * pool[1]) / total, total, count + pool[2])
        pools.append(pool)
    return np.repeat([mean for mean, _, _ in pools], [count for *_, count in pools]) + offset
