"""The terms of an additive model: curves, surfaces, levels, lines."""

from dataclasses import dataclass, fields
from typing import Any, ClassVar

from bottega.additive._terms.checks import (
    check_choice,
    check_columns,
    check_count,
    check_number,
    checked_period,
)
from bottega.core.errors import ParameterError
from bottega.core.stored import stored

__all__ = [
    "AdditiveTerm",
    "factor",
    "linear",
    "local",
    "offset",
    "random",
    "smooth",
    "tensor",
]

Column = str | int

BASES = ("pspline", "cyclic", "thin_plate")
KNOTS = ("auto", "even", "quantile")
SHAPES = ("increasing", "decreasing", "convex", "concave")


@stored
@dataclass(frozen=True, repr=False)
class AdditiveTerm:
    """One term of an additive model; it shows itself as the formula reads it."""

    columns: tuple[Column, ...]

    word: ClassVar[str]

    @property
    def by(self) -> Column | None:
        """The column that the effect is multiplied with, or that has an effect for each level."""
        return getattr(self, "by_", None)

    def __repr__(self) -> str:
        return self.text(written)

    def text(self, show: Any) -> str:
        """Return the term as it is written, columns shown by `show`."""
        parts = [show(column) for column in self.columns]
        for each in fields(self)[1:]:
            value = getattr(self, each.name)
            if value != each.default:
                name = each.name.rstrip("_")
                shown = show(value) if name == "by" else _value(value)
                parts.append(f"{name}={shown}")
        return f"{self.word}({', '.join(parts)})"

    def label(self, names: list[str]) -> str:
        """Return the name of the term in results: what it is, and of which columns."""
        return f"{self.word}({', '.join(names)})"


@stored
@dataclass(frozen=True, repr=False)
class BareTerm(AdditiveTerm):
    """A column by its name alone: a smooth term of a number, the levels of a category."""

    word: ClassVar[str] = ""

    def text(self, show: Any) -> str:
        """Return the name of the column."""
        return str(show(self.columns[0]))


@stored
@dataclass(frozen=True, repr=False)
class SmoothTerm(AdditiveTerm):
    """A curve in one column, or a thin-plate surface in two or three."""

    n_splines: int | None = None
    df: float | None = None
    alpha: float | None = None
    by_: Column | None = None
    basis: str = "pspline"
    shape: str | None = None
    degree: int = 3
    order: int = 2
    knots: str = "auto"
    period: tuple[float, float] | None = None
    smoother: Any = None

    word: ClassVar[str] = "smooth"


@stored
@dataclass(frozen=True, repr=False)
class LocalTerm(AdditiveTerm):
    """A curve by local regression."""

    span: float = 0.5
    degree: int = 1

    word: ClassVar[str] = "local"


@stored
@dataclass(frozen=True, repr=False)
class TensorTerm(AdditiveTerm):
    """A surface made of products of curves."""

    n_splines: int | tuple[int, ...] | None = None
    alpha: float | tuple[float, ...] | None = None
    by_: Column | None = None
    main: bool = True

    word: ClassVar[str] = "tensor"


@stored
@dataclass(frozen=True, repr=False)
class FactorTerm(AdditiveTerm):
    """An effect for each level."""

    word: ClassVar[str] = "factor"


@stored
@dataclass(frozen=True, repr=False)
class RandomTerm(AdditiveTerm):
    """An effect for each level, all drawn from one normal distribution."""

    by_: Column | None = None
    alpha: float | None = None

    word: ClassVar[str] = "random"


@stored
@dataclass(frozen=True, repr=False)
class LinearTerm(AdditiveTerm):
    """A slope."""

    by_: Column | None = None

    word: ClassVar[str] = "linear"


@stored
@dataclass(frozen=True, repr=False)
class OffsetTerm(AdditiveTerm):
    """A column that is added as it is."""

    word: ClassVar[str] = "offset"


def smooth(
    *columns: Column,
    n_splines: int | None = None,
    df: float | None = None,
    alpha: float | None = None,
    by: Column | None = None,
    basis: str = "pspline",
    shape: str | None = None,
    degree: int = 3,
    order: int = 2,
    knots: str = "auto",
    period: tuple[float, float] | None = None,
    smoother: Any = None,
) -> SmoothTerm:
    """Return a smooth term: a curve in one column, or a thin-plate surface in two or three.

    Parameters
    ----------
    *columns : str or int
        Name or position of the column; two or three with ``basis="thin_plate"``.
    n_splines : int, optional
        Number of functions of the basis; that of the model by default.
    df : float, optional
        Degrees of freedom of the term beside the constant, given instead of chosen: the penalty is
        the one with which the term alone has as many.
    alpha : float, optional
        The penalty itself, given instead of chosen.
    by : str or int, optional
        Multiplies the curve with a column of numbers (a varying coefficient), or makes a curve for
        each level of a column of categories. Such curves have mean zero: give the levels a term
        ``factor(by)`` too.
    basis : {"pspline", "cyclic", "thin_plate"}
        B-splines on even knots with a penalty on differences; the same closed to a ring; or the
        thin-plate spline, which does not depend on the directions of the axes.
    shape : {"increasing", "decreasing", "convex", "concave"}, optional
        What the curve must be.
    degree, order : int
        Degree of the B-splines and order of the differences that are penalised.
    knots : {"auto", "even", "quantile"}
        Where the knots are: even, or (``order=2``) at quantiles, with the penalty on changes of
        slope from knot to knot. ``"auto"`` is even, unless nine tenths of the rows lie in a quarter
        of the range.
    period : pair of float, optional
        Where a cyclic curve begins and ends; the least and greatest value by default.
    smoother : estimator of bottega.smooth, optional
        What smooths the partial residuals, for ``engine="backfitting"`` alone.

    Examples
    --------
    >>> smooth("age", df=4)
    smooth(age, df=4)
    """
    chosen = check_columns("smooth", columns, most=3)
    check_choice("smooth", "basis", basis, BASES)
    check_choice("smooth", "knots", knots, KNOTS)
    if shape is not None:
        check_choice("smooth", "shape", shape, SHAPES)
    check_count("smooth", "n_splines", n_splines, 3)
    check_count("smooth", "degree", degree, 1)
    check_count("smooth", "order", order, 1)
    check_number("smooth", "df", df, 0.0, open_low=True)
    check_number("smooth", "alpha", alpha, 0.0)
    if len(chosen) > 1 and basis != "thin_plate":
        raise ParameterError(
            f"smooth({', '.join(map(str, chosen))}) has {len(chosen)} columns, and basis={basis!r} "
            "takes one; use basis='thin_plate', or tensor() for columns in different units."
        )
    if df is not None and alpha is not None:
        raise ParameterError("smooth() takes df or alpha, not both: either sets the penalty.")
    if shape is not None and (basis != "pspline" or by is not None):
        raise ParameterError(
            f"smooth(shape={shape!r}) is for a curve on basis='pspline' without by="
        )
    if knots == "quantile" and (basis != "pspline" or order != 2):
        raise ParameterError("smooth(knots='quantile') is for basis='pspline' and order=2.")
    if period is not None:
        period = checked_period(period, basis)
    if smoother is not None and not hasattr(smoother, "fit"):
        raise ParameterError(
            f"smooth(smoother={smoother!r}) is no smoother; give one of bottega.smooth, such as "
            "SmoothingSpline(df=5)."
        )
    size = None if n_splines is None else int(n_splines)
    return SmoothTerm(
        chosen, size, df, alpha, by, basis, shape, int(degree), int(order), knots, period, smoother
    )


def local(column: Column, *, span: float = 0.5, degree: int = 1) -> LocalTerm:
    """Return a curve by local regression (loess), for ``engine="backfitting"``.

    Parameters
    ----------
    column : str or int
        Name or position of the column.
    span : float
        Share of the rows in each neighbourhood.
    degree : int
        Degree of the local polynomials: 0, 1 or 2.

    Examples
    --------
    >>> local("age", span=0.3)
    local(age, span=0.3)
    """
    check_number("local", "span", span, 0.0, open_low=True)
    if degree not in (0, 1, 2):
        raise ParameterError(f"local(degree={degree!r}) is not allowed; give 0, 1 or 2.")
    return LocalTerm(check_columns("local", (column,)), float(span), int(degree))


def tensor(
    *columns: Column,
    n_splines: int | tuple[int, ...] | None = None,
    alpha: float | tuple[float, ...] | None = None,
    by: Column | None = None,
    main: bool = True,
) -> TensorTerm:
    """Return a surface of products of B-splines, with a penalty along each column.

    Parameters
    ----------
    *columns : str or int
        Two or three columns, in any units.
    n_splines : int or tuple of int, optional
        B-splines for each column; 5 by default.
    alpha : float or tuple of float, optional
        Penalty along each column, given instead of chosen.
    by : str or int, optional
        As in `smooth`.
    main : bool
        Whether the surface has the main effects of its columns too. Without them it is the pure
        interaction, for a model that has smooth terms of the columns.

    Examples
    --------
    >>> tensor("longitude", "latitude", n_splines=8)
    tensor(longitude, latitude, n_splines=8)
    """
    chosen = check_columns("tensor", columns, least=2, most=3)
    for name, given, low in (("n_splines", n_splines, 3), ("alpha", alpha, 0.0)):
        parts = given if isinstance(given, tuple | list) else (given,)
        if isinstance(given, tuple | list) and len(given) != len(chosen):
            raise ParameterError(
                f"tensor({name}={given!r}) has {len(given)} numbers for {len(chosen)} columns; "
                "give one for all, or one per column."
            )
        for part in parts:
            if name == "alpha":
                check_number("tensor", name, part, low)
            else:
                check_count("tensor", name, part, int(low))
    sizes: Any = tuple(n_splines) if isinstance(n_splines, list) else n_splines
    alphas: Any = tuple(alpha) if isinstance(alpha, list) else alpha
    return TensorTerm(chosen, sizes, alphas, by, bool(main))


def factor(column: Column) -> FactorTerm:
    """Return an effect for each level of a column; they have mean zero over the rows.

    Examples
    --------
    >>> factor("region")
    factor(region)
    """
    return FactorTerm(check_columns("factor", (column,)))


def random(column: Column, *, by: Column | None = None, alpha: float | None = None) -> RandomTerm:
    """Return an effect for each level, drawn towards zero as its few rows allow.

    Parameters
    ----------
    column : str or int
        The levels: subjects, shops, batches.
    by : str or int, optional
        A column of numbers: the slope in it is random instead of the level.
    alpha : float, optional
        Penalty, which is the variance of the noise over that of the effects; chosen by default.

    Examples
    --------
    >>> random("subject")
    random(subject)
    """
    check_number("random", "alpha", alpha, 0.0)
    return RandomTerm(check_columns("random", (column,)), by, alpha)


def linear(column: Column, *, by: Column | None = None) -> LinearTerm:
    """Return a slope in a column of numbers, without penalty.

    Parameters
    ----------
    column : str or int
        Name or position of the column.
    by : str or int, optional
        Multiplies it with another column of numbers, or makes a slope for each level.

    Examples
    --------
    >>> linear("dose")
    linear(dose)
    """
    return LinearTerm(check_columns("linear", (column,)), by)


def offset(column: Column) -> OffsetTerm:
    """Return a column that is added to the linear predictor as it is (a log exposure).

    Examples
    --------
    >>> offset("log_years")
    offset(log_years)
    """
    return OffsetTerm(check_columns("offset", (column,)))


def written(column: Column) -> str:
    """Return a column as a formula writes it: in back quotes where its name is no plain word."""
    if not isinstance(column, str):
        return str(column)
    return column if column.isidentifier() else f"`{column}`"


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_value, value))})"
    return repr(value).lower() if isinstance(value, bool) else repr(value)
