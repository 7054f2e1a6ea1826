"""Terms of adaptive splines in words, and models as formulas in text, Python and SQL."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.additive._adaptive.basis import HINGE, LINE, MISSING, SUBSET, Basis, Factor, Term
from bottega.core.errors import InputError, did_you_mean
from bottega.core.typing import FloatArray

LANGUAGES = ("text", "python", "sql")
_SHORT = 6  # digits of the numbers in text


@dataclass(frozen=True)
class TermWords:
    """How terms are written: names of the inputs, of the levels, and digits of numbers.

    Attributes
    ----------
    names : sequence of str
        Names of the inputs.
    levels : sequence
        Levels of each category in the order of their codes; None for numbers.
    kinds : sequence of str
        What each input holds: number, boolean, date or category.
    digits : int or None
        Significant digits; None for all that there are.
    """

    names: Sequence[str]
    levels: Sequence[Any]
    kinds: Sequence[str]
    digits: int | None = _SHORT

    def number(self, value: float) -> str:
        """Return a number; with all digits it is read back as the same."""
        if self.digits is None:
            return repr(float(value))
        return f"{value:.{self.digits}g}"

    def term(self, term: Term) -> str:
        """Return a term, h(z) for the positive part of z.

        Examples
        --------
        >>> TermWords(["age"], [None], ["number"]).term(Term((Factor(0, HINGE, 30.0, 1),)))
        'h(age - 30)'
        """
        return " * ".join(self._factor(each) for each in term.factors) or "(Intercept)"

    def _factor(self, factor: Factor) -> str:
        name, knot = self.names[factor.variable], factor.knot
        if factor.kind == MISSING:
            return f"({name} is missing)"
        if factor.kind == SUBSET:
            levels = self.levels[factor.variable]
            return f"({name} in {{{', '.join(str(levels[k]) for k in factor.levels)}}})"
        if factor.kind == HINGE and factor.sign < 0:
            return f"h({self.number(knot)} - {name})"
        sign = "-" if knot >= 0 else "+"
        inside = name if knot == 0 else f"{name} {sign} {self.number(abs(knot))}"
        return f"h({inside})" if factor.kind == HINGE else f"({inside})"

    def sum_of(self, coef: FloatArray, words: Sequence[str], join: str = "\n  ") -> str:
        """Return coefficients times terms, one a line, with their signs between them."""
        parts = []
        for value, word in zip(coef, words, strict=True):
            size = self.number(abs(float(value)))
            sign = "-" if np.signbit(value) else "+"
            parts.append(f"{sign} {size}" + (f" * {word}" if word else ""))
        return join.join(parts).removeprefix("+ ")


def formula(
    wording: TermWords,
    basis: Basis,
    coef: FloatArray,
    *,
    language: str,
    outputs: Sequence[str],
    link: str,
) -> str:
    """Return a model as a formula.

    Parameters
    ----------
    wording : TermWords
        Names and digits.
    basis : Basis
        The terms.
    coef : ndarray of shape (m, outputs)
        Coefficients in the units of the inputs.
    language : {"text", "python", "sql"}
        Of the formula.
    outputs : sequence of str
        Name of each response, or of the score of each class.
    link : str
        Name of the link between the mean and the sum of the terms, see `MEANS`.
    """
    if language not in LANGUAGES:
        raise InputError(
            f"language={language!r} is not known; use one of {', '.join(LANGUAGES)}."
            + did_you_mean(str(language), LANGUAGES)
        )
    used = {j for term in basis for j in term.variables}
    dates = [wording.names[j] for j in sorted(used) if wording.kinds[j] == "date"]
    if dates and language != "text":
        raise InputError(
            f"A formula in {language} takes numbers, and {dates[0]!r} holds dates; fit the model "
            "to days since some day."
        )
    mean = MEANS[link][LANGUAGES.index(language)]
    if not mean:
        raise InputError(f"link={link!r} has no function in {language}; use language='python'.")
    write: Callable[..., str] = {"text": _text, "python": _python, "sql": _sql}[language]
    return write(wording, basis, coef, outputs, mean)


# The mean as a function of the sum of the terms, by the name of the link.
MEANS = {
    "identity": ("{}", "{}", "{}"),
    "logit": (
        "1 / (1 + exp(-({})))",
        "math.exp(min({0}, 0.0)) / (1.0 + math.exp(-abs({0})))",
        "1.0 / (1.0 + EXP(-({})))",
    ),
    "log": ("exp({})", "math.exp({})", "EXP({})"),
    "inverse": ("1 / ({})", "1.0 / ({})", "1.0 / ({})"),
    "sqrt": ("({})^2", "({}) ** 2", "POWER({}, 2)"),
    "cloglog": ("1 - exp(-exp({}))", "1.0 - math.exp(-math.exp({}))", "1.0 - EXP(-EXP({}))"),
    "probit": ("Phi({})", "0.5 * math.erfc(-({}) / math.sqrt(2.0))", ""),
}


def _text(
    wording: TermWords, basis: Basis, coef: FloatArray, outputs: Sequence[str], mean: str
) -> str:
    words = ["" if not term.factors else wording.term(term) for term in basis]
    lines = []
    for name, column in zip(outputs, coef.T, strict=True):
        inside = wording.sum_of(column, words)
        whole = inside if mean == "{}" else mean.format(f"\n  {inside}\n")
        lines.append(f"{name} = {whole}")
    return "\n\n".join(lines)


def _python(
    wording: TermWords, basis: Basis, coef: FloatArray, outputs: Sequence[str], mean: str
) -> str:
    def value(j: int) -> str:
        return f"row[{wording.names[j]!r}]"

    used = sorted({j for term in basis for j in term.variables})
    place = {j: f"v{k}" for k, j in enumerate(used)}
    lines = ["import math", "", "", "def predict(row):"]
    for j in used:
        lines.append(f"    {place[j]} = {value(j)}")
        if wording.levels[j] is None:
            absent = f"{place[j]} is None or {place[j]} != {place[j]}"
        else:
            known = [_literal(level) for level in wording.levels[j]]
            absent = f"{place[j]} not in ({', '.join(known)},)"
        lines.append(f"    {place[j]} = {_filling(wording, basis, j)} if {absent} else {place[j]}")
    words = [
        _product(term, lambda f: _python_factor(wording, f, place[f.variable])) for term in basis
    ]
    found = []
    for k, column in enumerate(coef.T):
        inside = wording.sum_of(column, words, "\n        ")
        lines.append(f"    s{k} = (\n        {inside}\n    )")
        found.append(mean.format(f"s{k}"))
    answer = found[0] if len(found) == 1 else _dictionary(outputs, found)
    return "\n".join([*lines, f"    return {answer}", ""])


def _dictionary(names: Sequence[str], values: Sequence[str]) -> str:
    pairs = ", ".join(f"{name!r}: {value}" for name, value in zip(names, values, strict=True))
    return "{" + pairs + "}"


def _filling(wording: TermWords, basis: Basis, j: int) -> str:
    """Return what stands for a missing value, as Python writes it."""
    fill = float(basis.fill[j])
    if np.isnan(fill):
        return "None"
    levels = wording.levels[j]
    return wording.number(fill) if levels is None else _literal(levels[int(fill)])


def _literal(level: Any) -> str:
    return repr(level.item() if isinstance(level, np.generic) else level)


def _product(term: Term, write: Callable[[Factor], str]) -> str:
    return " * ".join(write(each) for each in term.factors)


def _python_factor(wording: TermWords, factor: Factor, name: str) -> str:
    if factor.kind == MISSING:
        return f"({name} is None)"
    if factor.kind == SUBSET:
        levels = wording.levels[factor.variable]
        return f"({name} in ({', '.join(_literal(levels[k]) for k in factor.levels)},))"
    inside = _difference(wording, factor, name)
    if factor.kind == HINGE:
        inside = f"max(0.0, {inside})"
    return f"(0.0 if {name} is None else {inside})"


def _difference(wording: TermWords, factor: Factor, name: str) -> str:
    knot = wording.number(factor.knot)
    if factor.kind == HINGE and factor.sign < 0:
        return f"{knot} - {name}"
    return f"{name} - {knot}" if factor.knot >= 0 else f"{name} + {knot[1:]}"


def _sql(
    wording: TermWords, basis: Basis, coef: FloatArray, outputs: Sequence[str], mean: str
) -> str:
    def value(j: int) -> str:
        quoted = '"' + str(wording.names[j]).replace('"', '""') + '"'
        if wording.kinds[j] == "boolean":
            quoted = f"CAST({quoted} AS INTEGER)"
        if np.isnan(basis.fill[j]):
            return quoted
        if wording.levels[j] is None:
            return f"COALESCE({quoted}, {wording.number(basis.fill[j])})"
        levels = [_sql_literal(level) for level in wording.levels[j]]
        known = f"{quoted} IN ({', '.join(levels)})"
        return f"CASE WHEN {known} THEN {quoted} ELSE {levels[int(basis.fill[j])]} END"

    def write(factor: Factor) -> str:
        j, name = factor.variable, value(factor.variable)
        if factor.kind == MISSING and wording.levels[j] is None:
            return f"CASE WHEN {name} IS NULL THEN 1 ELSE 0 END"
        if factor.kind in (MISSING, SUBSET):
            codes = factor.levels if factor.kind == SUBSET else range(len(wording.levels[j]))
            listed = ", ".join(_sql_literal(wording.levels[j][k]) for k in codes)
            yes, no = (1, 0) if factor.kind == SUBSET else (0, 1)
            return f"CASE WHEN {name} IN ({listed}) THEN {yes} ELSE {no} END"
        inside = _difference(wording, factor, name)
        if factor.kind == LINE:
            return f"COALESCE({inside}, 0)"
        return f"CASE WHEN {inside} > 0 THEN {inside} ELSE 0 END"

    words = [_product(term, write) for term in basis]
    columns = []
    for name, column in zip(outputs, coef.T, strict=True):
        whole = mean.format(wording.sum_of(column, words))
        quoted = str(name).replace('"', '""')
        columns.append(whole if len(outputs) == 1 else f'{whole} AS "{quoted}"')
    return ",\n".join(columns)


def _sql_literal(level: Any) -> str:
    if isinstance(level, str):
        return "'" + level.replace("'", "''") + "'"
    return _literal(level)
