"""A directed graph without cycles as a drawing: parents above their children."""

from collections.abc import Mapping, Sequence
from math import atan2, degrees
from typing import Any

from bottega.core.errors import InputError
from bottega.plot._layers import Item, layered
from bottega.plot._parts import only, shade, tips
from bottega.plot.theme import altair, finish, plain

__all__ = ["directed_graph_chart"]

_LEVEL = 86  # pixels from one layer to the next
_BOX = 30  # height of a node's box
_BAR = 8  # height of the bar of its shares
_NOTE = 16  # height of the words under its name
_CHARACTER = 6.9  # mean width of one, in the font of the labels
_LONGEST = 22  # characters of a label
_MARGIN = 6


def directed_graph_chart(
    parents: Mapping[str, Sequence[str]],
    *,
    shares: Mapping[str, Mapping[str, float]] | None = None,
    notes: Mapping[str, str] | None = None,
    marked: Sequence[str] = (),
    title: str = "Directed graph",
    subtitle: str | None = None,
) -> Any:
    """Draw a graph in layers, each node below its parents.

    Parameters
    ----------
    parents : mapping of name to list of names
        Parents of each node; no node may be its own ancestor.
    shares : mapping of name to mapping of state to probability, optional
        Distribution of a node over its states, drawn as a bar under the name: the first state is
        light, the last dark. The tooltip has the numbers.
    notes : mapping of name to str, optional
        A few words or numbers under the name of a node.
    marked : sequence of str
        Nodes whose boxes stand out.
    title : str
        Title.
    subtitle : str, optional
        What to see in it, instead of what the bars are and which nodes are marked.

    Returns
    -------
    altair.LayerChart
        The chart. It is readable up to some fifty nodes.

    Examples
    --------
    >>> chart = directed_graph_chart({"rain": [], "wet": ["rain"]}, title="Weather")
    >>> chart.to_dict()["title"]["text"]
    'Weather'
    """
    alt = altair()
    unknown = [name for above in parents.values() for name in above if name not in parents]
    if not parents or unknown:
        raise InputError(
            "parents must name every node of the graph; "
            + (f"{unknown[0]!r} is a parent and no node." if unknown else "it is empty.")
        )
    shares, words = shares or {}, notes or {}
    boxed = _BOX + (_BAR + 6 if shares else 0) + (_NOTE if words else 0)
    wide = {
        name: max(_length(_short(name)), _length(_short(words.get(name, "")))) + 16
        for name in parents
    }
    wide = {name: max(width, 44.0) for name, width in wide.items()}
    places, edges = layered(parents, wide)
    width = max(places[name][0] + wide[name] / 2 for name in parents) + 2 * _MARGIN
    height = max(level for _, level in places.values()) * _LEVEL + boxed + 2 * _MARGIN

    def at(x: str, y: str) -> dict[str, Any]:
        across = alt.Scale(domain=[0, plain(width)], nice=False, zero=False)
        down = alt.Scale(domain=[0, height], nice=False, reverse=True)
        return {
            "x": alt.X(x, type="quantitative", scale=across, axis=None),
            "y": alt.Y(y, type="quantitative", scale=down, axis=None),
        }

    rows = _edges(places, edges, boxed)
    for name in parents:
        rows += _node(name, places[name], wide[name], boxed, shares.get(name, {}), name in marked)
        if name in words:
            rows.append(_note(words[name], places[name], boxed))
    base = alt.Chart().encode(**at("x", "y"))
    corners = alt.Chart().encode(**at("left", "top"), x2="right", y2="bottom")
    tooltip = tips(("name:N", "variable"), ("detail:N", "distribution"))
    lines = base.mark_line(style="faint", strokeWidth=1.4, interpolate="monotone")
    heads = base.mark_point(shape="triangle", size=70, filled=True, style="faint", opacity=1)
    turn = alt.Angle("angle", type="quantitative", scale=None)
    boxes = corners.mark_rect(cornerRadius=7, strokeWidth=1.4, fillOpacity=0.07)
    layers = [
        only(lines, "edge").encode(detail="edge:N", order=alt.Order("step", type="quantitative")),
        only(heads, "head").encode(angle=turn),
        only(boxes, "node").encode(tooltip=tooltip, stroke=_stroke(), fill=_stroke()),
        only(base.mark_text(style="label"), "node").encode(text="text:N", tooltip=tooltip),
        only(base.mark_text(style="label", fontSize=11), "note").encode(text="text:N"),
        only(corners.mark_rect(style="honest"), "share").encode(
            fillOpacity=shade(alt.FillOpacity, "tint", 0.12, 0.9),
            tooltip=tips(("name:N", "variable"), ("state:N",), ("p:Q", "probability", ".4~g")),
        ),
    ]
    told = [] if subtitle is None else [subtitle]
    if shares and subtitle is None:
        told.append("Bars: probabilities of the states, the first light, the last dark.")
    if marked and subtitle is None:
        told.append(f"Given: {', '.join(map(str, marked))}.")
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows)),
        title=title,
        subtitle=told,
        description=(
            f"{title} of {len(parents)} nodes and {len(edges)} edges: "
            + "; ".join(f"{', '.join(above)} -> {name}" for name, above in parents.items() if above)
        ),
        width=max(int(width), 160),
        height=height,
    )


def _stroke() -> Any:
    alt = altair()
    scale = alt.Scale(domain=["free", "marked"], range="category")
    return {"field": "role", "type": "nominal", "scale": scale, "legend": None}


def _length(text: str) -> float:
    """Return about how many pixels a label takes."""
    return len(text) * _CHARACTER + 2.0 * sum(map(str.isupper, text))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _node(
    name: str,
    place: tuple[float, int],
    wide: float,
    boxed: int,
    shares: Mapping[str, float],
    marked: bool,
) -> list[dict[str, Any]]:
    middle, top = place[0] + _MARGIN, place[1] * _LEVEL + _MARGIN
    left = middle - wide / 2
    rows: list[dict[str, Any]] = [
        {
            "kind": "node",
            "name": name,
            "text": _short(name),
            "x": plain(middle),
            "y": top + _BOX / 2,
            "left": plain(left),
            "right": plain(left + wide),
            "top": top,
            "bottom": top + boxed,
            "role": "marked" if marked else "free",
            "detail": ", ".join(f"{state}: {p:.4g}" for state, p in shares.items()),
        }
    ]
    start, room = left + 8, wide - 16
    for i, (state, p) in enumerate(shares.items()):
        rows.append(
            {
                "kind": "share",
                "name": name,
                "state": state,
                "p": plain(p),
                "tint": plain(i / max(len(shares) - 1, 1)),
                "left": plain(start),
                "right": plain(start + room * p),
                "top": top + _BOX - 2,
                "bottom": top + _BOX - 2 + _BAR,
            }
        )
        start += room * p
    return rows


def _note(words: str, place: tuple[float, int], boxed: int) -> dict[str, Any]:
    """Return the words at the lower end of a node's box."""
    x, y = place[0] + _MARGIN, place[1] * _LEVEL + _MARGIN + boxed - _NOTE + 3
    return {"kind": "note", "text": _short(words), "x": plain(x), "y": plain(y)}


def _edges(
    places: Mapping[Item, tuple[float, int]],
    edges: Mapping[tuple[str, str], list[Item]],
    boxed: int,
) -> list[dict[str, Any]]:
    rows = []
    for (parent, child), items in edges.items():
        points = []
        for item in items:
            x, level = places[item]
            top = level * _LEVEL + _MARGIN
            if item == parent:
                points.append((x + _MARGIN, top + boxed))
            elif item == child:
                points.append((x + _MARGIN, top - 5))
            else:
                points += [(x + _MARGIN, top), (x + _MARGIN, top + boxed)]
        rows += [
            {
                "kind": "edge",
                "edge": f"{parent} -> {child}",
                "step": i,
                "x": plain(x),
                "y": plain(y),
            }
            for i, (x, y) in enumerate(points)
        ]
        (x0, y0), (x1, y1) = points[-2:]
        # The triangle points upwards at 0 degrees, and turns clockwise.
        angle = degrees(atan2(x1 - x0, -(y1 - y0)))
        rows.append({"kind": "head", "x": plain(x1), "y": plain(y1), "angle": plain(angle)})
    return rows
