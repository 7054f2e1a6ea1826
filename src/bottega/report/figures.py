"""Charts as the report shows them: words in HTML, colours from the page, data as escaped JSON."""

from dataclasses import dataclass
from typing import Any

from bottega.plot import LIGHT, config
from bottega.plot.theme import WIDTH

__all__ = ["Figure", "chart_config"]


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
    """

    name: str
    title: str
    notes: tuple[str, ...]
    description: str
    spec: dict[str, Any]
    max_width: int | None
    wide: bool

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
        wide = not isinstance(spec["width"], int | float)
        if not wide:
            if spec["width"] < WIDTH:
                max_width = int(spec["width"]) + 110  # and its labels
            spec["width"] = "container"
            spec["autosize"] = {"type": "fit-x", "contains": "padding"}
        return cls(
            name,
            title["text"],
            tuple(title.get("subtitle", ())),
            spec["description"],
            spec,
            max_width,
            wide,
        )


def chart_config() -> dict[str, Any]:
    """Return the look of the charts in terms of the page's own colours.

    Each colour is a CSS variable, so that the page's style sheet alone decides about light, dark
    and print.
    """
    return config({name: f"var(--{name})" for name in LIGHT}, background="transparent")
