"""Charts as the report shows them: words in HTML, colours from the page, data as escaped JSON."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bottega.plot import LIGHT, config
from bottega.plot.theme import WIDTH

__all__ = ["Figure", "Figures", "chart_config"]


@dataclass(frozen=True)
class Figure:
    """One chart of the report.

    Attributes
    ----------
    name : str
        Where it stands in the page (the id of its element).
    title, notes, description : str, tuple of str, str
        Its heading, the lines below it, and what it shows in words.
    spec : dict
        What is drawn, without words and colours.
    max_width : int or None
        Beyond this width it would look stretched.
    wide : bool
        Whether it has a width of its own and needs a row for itself.
    chart : altair chart
        The chart as it was made, with words and colours.
    """

    name: str
    title: str
    notes: tuple[str, ...]
    description: str
    spec: dict[str, Any]
    max_width: int | None
    wide: bool
    chart: Any = field(repr=False, compare=False)

    @classmethod
    def of(cls, name: str, chart: Any) -> "Figure":
        """Take a chart apart: titles become text that wraps and that any reader can read."""
        spec = chart.to_dict(
            validate=False
        )  # slow on large data, and done by the tests of the plots
        title = spec.pop("title")
        # The page supplies the look, and the bundle knows which version it is.
        for key in ("config", "$schema"):
            spec.pop(key, None)
        max_width = None
        wide = not isinstance(spec.get("width"), int | float)
        if not wide:
            if spec["width"] < WIDTH:
                max_width = int(spec["width"]) + 110  # and its labels
            spec["width"] = "container"
            spec["autosize"] = {"type": "fit-x", "contains": "padding"}
        return cls(
            name,
            title["text"],
            tuple(_lines(title.get("subtitle", ()))),
            spec["description"],
            spec,
            max_width,
            wide,
            chart,
        )


def _lines(subtitle: Any) -> list[str]:
    return [subtitle] if isinstance(subtitle, str) else list(subtitle)


class Figures:
    """The charts of a report in the order they were made; one that fails is left out, and said.

    Attributes
    ----------
    made : list of Figure
        The charts.
    failed : list of str
        What could not be drawn, in sentences.
    """

    def __init__(self) -> None:
        self.made: list[Figure] = []
        self.failed: list[str] = []

    def make(self, name: str, draw: Callable[[], Any]) -> Figure | None:
        """Draw a chart for the place `name`; return None where that fails."""
        try:
            figure = Figure.of(name, draw())
        except Exception as error:  # one chart must not take the report down
            self.failed.append(
                f"The chart {name!r} could not be drawn ({type(error).__name__}: {error})."
            )
            return None
        self.made.append(figure)
        return figure


def chart_config() -> dict[str, Any]:
    """Return the look of the charts in terms of the page's own colours.

    Each colour is a CSS variable, so that the page's style sheet alone decides about light, dark
    and print.
    """
    return config({name: f"var(--{name})" for name in LIGHT}, background="transparent")
