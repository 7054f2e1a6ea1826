"""A network in training: losses over the epochs, activations by layer."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import facets, records, thinned, x_axis, y_axis
from bottega.plot.lines import lines_chart
from bottega.plot.theme import altair, number, panels

__all__ = ["activations_chart", "training_chart"]

_MOST = 400  # more points than pixels show nothing more
_BINS = 40
_PANEL = {"width": 190, "height": 130}


def training_chart(
    loss: Any, validation: Any = None, *, title: str = "Loss over the epochs"
) -> Any:
    """Draw the training loss of each epoch, and that of rows held out.

    Parameters
    ----------
    loss : array-like of shape (E,)
        Mean of the objective in each epoch, the penalties included.
    validation : array-like of shape (E,), optional
        Mean loss of rows held out after each epoch.
    title : str
        Of the chart.

    Returns
    -------
    altair.LayerChart
        On a logarithmic axis where the losses span more than a factor of ten.

    Examples
    --------
    >>> training_chart([1.0, 0.5, 0.3], [1.1, 0.7, 0.8]).to_dict()["title"]["subtitle"]
    ['Held-out rows like epoch 2 best (0.7).']
    """
    losses = np.asarray(loss, dtype=np.float64)
    if losses.ndim != 1 or not losses.size:
        raise InputError("There is no epoch to draw.")
    lines = {"training rows": losses}
    notes = [f"After {len(losses):,} epochs: {number(losses[-1])}."]
    if validation is not None and len(validation):
        held = np.asarray(validation, dtype=np.float64)
        lines["rows held out"] = held
        best = int(np.nanargmin(held))
        notes = [f"Held-out rows like epoch {best + 1:,} best ({number(held[best])})."]
    both = np.concatenate(list(lines.values()))
    positive = both[both > 0]
    log = bool(positive.size == both.size and positive.max() > 10 * positive.min())
    epochs = np.arange(1, len(losses) + 1)
    shown = thinned(len(losses), _MOST)
    return lines_chart(
        epochs[shown],
        {name: values[shown] for name, values in lines.items()},
        x_title="epoch",
        y_title="mean loss" + (" (logarithmic)" if log else ""),
        title=title,
        subtitle=notes,
        log_y=log,
        points=len(shown) <= 40,
    )


def activations_chart(layers: Mapping[str, Any]) -> Any:
    """Draw the distribution of the activations of each layer.

    Parameters
    ----------
    layers : mapping of str to array-like
        Activations of rows and units, by layer.

    Returns
    -------
    altair.FacetChart
        One panel per layer, each with the share of the activations in bins.

    Examples
    --------
    >>> chart = activations_chart({"hidden 1": [[0.0, 1.0], [0.0, 2.0]]})
    >>> chart.to_dict()["title"]["text"]
    'Activations by layer'
    """
    alt = altair()
    if not layers:
        raise InputError("There is no hidden layer to draw.")
    rows, titles = [], []
    for name, values in layers.items():
        flat = np.asarray(values, dtype=np.float64).ravel()
        counts, edges = np.histogram(flat, bins=_BINS)
        title = f"{name}: sd {number(float(flat.std()), 3)}, {np.mean(flat == 0):.0%} zero"
        titles.append(title)
        rows += records(
            panel=title,
            left=edges[:-1],
            right=edges[1:],
            share=counts / max(counts.sum(), 1),
            bottom=0.0,
        )
    panel = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(style="honest", binSpacing=0, opacity=0.7)
        .encode(
            x=x_axis("left", "activation", zero=False, grid=False, tickCount=4),
            x2="right",
            y=y_axis("share", "share", format="%", tickCount=4),
            y2="bottom",
        )
        .properties(**_PANEL)
    )
    return panels(
        facets(panel, "panel", titles, 3),
        title="Activations by layer",
        subtitle="Over rows and units; a layer whose bars are all in one place carries nothing.",
        description="Histograms of activations. " + "; ".join(titles) + ".",
    )
