"""The effects of an additive model: what each term adds, with its band."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import did_you_mean
from bottega.core.frames import make_frame
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray
from bottega.plot import additive_effects_chart

__all__ = ["AdditiveEffects", "TermEffect"]


@dataclass(frozen=True)
class TermEffect:
    """What one term adds to the linear predictor.

    Attributes
    ----------
    name : str
        The term.
    kind : {"smooth", "tensor", "factor", "random", "linear"}
        What it is.
    columns : tuple of str
        The columns along which it is shown.
    points : tuple
        Their values at each point; the levels of a category.
    effect, std_error, lower, upper : ndarray of shape (m,)
        The effect, its standard error and its limits ``effect -+ critical * std_error``.
    edf : float
        Degrees of freedom of the term.
    p_value : float
        Of the test that it is zero.
    critical : float
        How many standard errors the limits are away.
    response : str
        The class it is for, of several; else empty.
    """

    name: str
    kind: str
    columns: tuple[str, ...]
    points: tuple[Any, ...]
    effect: FloatArray
    std_error: FloatArray
    lower: FloatArray
    upper: FloatArray
    edf: float
    p_value: float
    critical: float
    response: str = ""

    @property
    def is_levels(self) -> bool:
        """Whether the (first) column is a category."""
        return isinstance(self.points[0], list)


@dataclass(frozen=True, repr=False)
class AdditiveEffects(Shown, Mapping[str, TermEffect]):
    """The effects of all terms, by name.

    Each has mean zero over the training rows (but those of a varying coefficient, which multiply a
    column): the response of a row is that of the intercept and its effects together, on the scale
    of the link.

    Attributes
    ----------
    effects : tuple of TermEffect
        In the order of the terms.
    level : float
        Coverage of the bands.
    band : {"pointwise", "simultaneous"}
        At each point by itself, averaged over the points; or at all of a term at once.

    Examples
    --------
    >>> import numpy as np
    >>> from bottega.additive import AdditiveModel
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(200, 2))
    >>> y = np.sin(6 * X[:, 0]) + 0.3 * rng.normal(size=200)
    >>> effects = AdditiveModel().fit(X, y).effects()
    >>> list(effects)
    ['smooth(x0)', 'smooth(x1)']
    >>> curve = effects["smooth(x0)"]
    >>> bool(np.all((curve.lower < curve.effect) & (curve.effect < curve.upper)))
    True
    """

    effects: tuple[TermEffect, ...]
    level: float
    band: str
    like: Any = None

    def _key(self, effect: TermEffect) -> str:
        return f"{effect.response}: {effect.name}" if effect.response else effect.name

    def __getitem__(self, name: str) -> TermEffect:
        for effect in self.effects:
            if self._key(effect) == name:
                return effect
        raise KeyError(f"No effect is called {name!r}.{did_you_mean(name, list(self))}")

    def __iter__(self) -> Iterator[str]:
        return (self._key(effect) for effect in self.effects)

    def __len__(self) -> int:
        return len(self.effects)

    def summary(self) -> Summary:
        """Return one row per effect: its degrees of freedom, test and range."""
        columns: dict[str, Any] = {
            "term": [self._key(effect) for effect in self.effects],
            "edf": [effect.edf for effect in self.effects],
            "p_value": [effect.p_value for effect in self.effects],
            "lowest": [float(effect.effect.min()) for effect in self.effects],
            "highest": [float(effect.effect.max()) for effect in self.effects],
        }
        return Summary("Effects of the terms", (Section("", columns),))

    def tidy(self) -> Any:
        """Return one row per point of each effect, as a data frame.

        Returns
        -------
        data frame
            Columns term, column, x (a number, missing for a level), level (a text, missing for a
            number), column2, x2 and level2 of a surface, effect, std_error, conf_low, conf_high;
            response first where there are several.
        """
        found: dict[str, list[Any]] = {name: [] for name in _TIDY}
        for effect in self.effects:
            m = len(effect.effect)
            found["response"] += [effect.response] * m
            found["term"] += [effect.name] * m
            for place, tail in enumerate(("", "2")):
                name, levels, numbers = _axis_columns(effect, place)
                found["column" + tail] += name
                found["level" + tail] += levels
                found["x" + tail] += numbers
            found["effect"] += effect.effect.tolist()
            found["std_error"] += effect.std_error.tolist()
            found["conf_low"] += effect.lower.tolist()
            found["conf_high"] += effect.upper.tolist()
        if not any(found["response"]):
            del found["response"]
        return make_frame(found, self.like)

    def plot(self, *, most: int = 12, columns: int = 3) -> Any:
        """Draw the effects side by side, the widest first.

        Parameters
        ----------
        most : int
            Of more terms, those with the widest effect are drawn.
        columns : int
            Panels side by side.

        Returns
        -------
        altair chart
            Curves with their bands, levels with their intervals, surfaces by colour.
        """
        return additive_effects_chart(
            self.effects, level=self.level, band=self.band, most=most, columns=columns
        )


_TIDY = (
    *("response", "term", "column", "x", "level", "column2", "x2", "level2"),
    *("effect", "std_error", "conf_low", "conf_high"),
)


def _axis_columns(effect: TermEffect, place: int) -> tuple[list[Any], list[Any], list[Any]]:
    """Return name, levels and numbers of a column along which an effect is shown, or gaps."""
    m = len(effect.effect)
    if place >= len(effect.points):
        return [None] * m, [None] * m, [np.nan] * m
    here, name = effect.points[place], [effect.columns[place]] * m
    if isinstance(here, list):
        return name, here, [np.nan] * m
    return name, [None] * m, np.asarray(here).tolist()
