r"""Formulas: terms of an additive model written as text, read by a small grammar of their own.

    formula  :=  term ("+" term)*
    term     :=  column | word "(" column ("," column)* ("," name "=" value)* ")"
    column   :=  name | "`" any text "`" | whole number (its position, inside a term)
    value    :=  number | name | text in quotes | "(" value ("," value)* ")"

The words are smooth, local, tensor, factor, random, linear and offset. Nothing is ever evaluated;
a mistake is shown with the place where it stands.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any, NoReturn

from bottega.additive import terms as kinds
from bottega.additive.terms import AdditiveTerm, BareTerm
from bottega.core.errors import ParameterError, did_you_mean

__all__ = ["parse_formula"]

WORDS: dict[str, Callable[..., AdditiveTerm]] = {
    word: getattr(kinds, word)
    for word in ("smooth", "local", "tensor", "factor", "random", "linear", "offset")
}
# Words that other libraries have for the same.
_ELSEWHERE = {"s": "smooth", "te": "tensor", "ti": "tensor", "lo": "local", "C": "factor"}
_ELSEWHERE |= {"re": "random", "l": "linear", "f": "factor", "bs": "basis", "k": "n_splines"}
_ELSEWHERE |= {"sp": "alpha", "lam": "alpha"}
_CONSTANTS = {"true": True, "false": False, "none": None}
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
      | (?P<name>[^\W\d]\w*(?:\.\w+)*)
      | (?P<quoted>`[^`]*`)
      | (?P<text>"[^"]*"|'[^']*')
      | (?P<sign>[-+~*:,()=^|/])
    )""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    at: int


def parse_formula(formula: str) -> tuple[AdditiveTerm, ...]:
    """Return the terms that a formula lists.

    Parameters
    ----------
    formula : str
        Such as ``"smooth(x1) + smooth(x2, df=6) + tensor(x3, x4) + factor(g) + x6"``. A column
        by its name alone is a smooth term if it holds numbers, and a factor if it holds
        categories. A name that is no plain word stands in back quotes.

    Returns
    -------
    tuple of AdditiveTerm

    Examples
    --------
    >>> parse_formula("smooth(age, df=4) + region")
    (smooth(age, df=4), region)
    >>> parse_formula("smooth(age) + exp(income)")
    Traceback (most recent call last):
        ...
    bottega.core.errors.ParameterError: 'exp' at character 15 is no term, and functions are not \
called in a formula; the terms are smooth, local, tensor, factor, random, linear, offset. Compute \
the column before.
      smooth(age) + exp(income)
                    ^
    """
    return _Reader(formula).formula()


class _Reader:
    """Reads a formula from left to right."""

    def __init__(self, formula: str) -> None:
        self.formula_text = formula
        self.tokens = self._split()
        self.place = 0

    def _split(self) -> list[_Token]:
        found: list[_Token] = []
        at, text = 0, self.formula_text
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None:
                at += len(text[at:]) - len(text[at:].lstrip())
                self._wrong(f"{text[at]!r} cannot be read", at)
            kind = str(match.lastgroup)
            # A sign before a number is a sign of the formula where a term may end before it.
            if kind == "number" and match["number"][0] in "+-" and found and found[-1].text != "=":
                start = match.start("number")
                found.append(_Token("sign", match["number"][0], start))
                at = start + 1
                continue
            found.append(_Token(kind, match[kind], match.start(kind)))
            at = match.end()
        return found

    def formula(self) -> tuple[AdditiveTerm, ...]:
        if not self.tokens:
            raise ParameterError("The formula is empty; write terms, such as 'smooth(x1) + x2'.")
        found = [self._term()]
        while self.place < len(self.tokens):
            token = self._next()
            if token.text == "~":
                self._wrong("'~' is not needed: the response is given as y, write its terms", token)
            if token.text in ("*", ":", "^", "/", "|"):
                self._wrong(
                    f"{token.text!r} has no meaning; write an interaction as tensor(a, b), terms "
                    "joined by '+'",
                    token,
                )
            if token.text != "+":
                self._wrong(f"'+' is expected before {token.text!r}", token)
            found.append(self._term())
        return tuple(found)

    def _term(self) -> AdditiveTerm:
        token = self._next("a term")
        if token.kind == "name" and self._peek() == "(":
            if token.text not in WORDS:
                near = _near(token.text, WORDS)
                self._wrong(
                    f"{token.text!r} at character {token.at + 1} is no term, and functions are not "
                    f"called in a formula; the terms are {', '.join(WORDS)}.{near} Compute the "
                    "column before",
                    token,
                    placed=True,
                )
            return self._call(token)
        if token.kind == "number":
            self._wrong(
                f"the number {token.text} is no term: the intercept is always in the model, and a "
                "column by its position is written smooth(1) or linear(1)",
                token,
            )
        return BareTerm((self._column(token),))

    def _call(self, word: _Token) -> AdditiveTerm:
        self._next()
        columns: list[Any] = []
        options: dict[str, Any] = {}
        make = WORDS[word.text]
        while self._peek() != ")":
            token = self._next("a column")
            if token.kind == "name" and self._peek() == "=":
                self._option(word, token, make, options)
            elif options:
                self._wrong(f"{token.text!r}: columns come before options", token)
            else:
                columns.append(self._column(token))
            if self._peek() not in (",", ")"):
                got = self._next("')'")
                self._wrong(f"',' or ')' is expected before {got.text!r}", got)
            if self._peek() == ",":
                self._next()
        self._next()
        if not columns:
            self._wrong(f"{word.text}() names no column", word)
        try:
            return make(*columns, **options)
        except (ParameterError, TypeError) as error:
            text = str(error).split("\n")[0].rstrip(".")
            if not isinstance(error, ParameterError):
                text = f"{word.text}() takes fewer columns than the {len(columns)} here"
            self._wrong(text, word)

    def _option(
        self, word: _Token, token: _Token, make: Callable[..., Any], options: dict[str, Any]
    ) -> None:
        known = [
            name
            for name, each in signature(make).parameters.items()
            if each.kind != Parameter.VAR_POSITIONAL and name not in ("column", "smoother")
        ]
        if token.text not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            near = _near(token.text, known)
            self._wrong(f"{word.text}() has no option {token.text!r}; {takes}.{near}", token)
        if token.text in options:
            self._wrong(f"{token.text!r} is given twice", token)
        self._next()
        options[token.text] = self._value(column=token.text == "by")

    def _value(self, *, column: bool = False) -> Any:
        token = self._next("a value")
        if column:
            return self._column(token)
        if token.text == "(":
            found = [self._value()]
            while self._peek() == ",":
                self._next()
                found.append(self._value())
            end = self._next("')'")
            if end.text != ")":
                self._wrong(f"')' is expected before {end.text!r}", end)
            return tuple(found)
        if token.kind == "number":
            return _number(token.text)
        if token.kind == "text":
            return token.text[1:-1]
        if token.kind == "name":
            if self._peek() == "(":
                self._wrong(f"{token.text!r}: functions are not called in a formula", token)
            return _CONSTANTS.get(token.text.lower(), token.text)
        return self._wrong(f"a value is expected, not {token.text!r}", token)

    def _column(self, token: _Token) -> str | int:
        if token.kind in ("quoted", "text"):
            return token.text[1:-1]
        if token.kind == "name":
            return token.text
        if token.kind == "number" and token.text.isdigit():
            return int(token.text)
        return self._wrong(f"a column is expected, not {token.text!r}", token)

    def _peek(self) -> str:
        return self.tokens[self.place].text if self.place < len(self.tokens) else ""

    def _next(self, wanted: str = "") -> _Token:
        if self.place == len(self.tokens):
            self._wrong(f"the formula ends where {wanted or 'more'} is expected", None)
        self.place += 1
        return self.tokens[self.place - 1]

    def _wrong(self, what: str, where: _Token | int | None, *, placed: bool = False) -> NoReturn:
        """Refuse the formula and show the place."""
        if isinstance(where, _Token):
            at = where.at
        else:
            at = len(self.formula_text.rstrip()) if where is None else where
        said = what if placed else f"The formula at character {at + 1}: {what}"
        dot = "" if said.endswith((".", "?")) else "."
        line = self.formula_text.replace("\n", " ").replace("\t", " ")
        raise ParameterError(f"{said}{dot}\n  {line}\n  {' ' * at}^")


def _near(word: str, known: Collection[str]) -> str:
    """Return a sentence that suggests the word for what other libraries call otherwise."""
    if _ELSEWHERE.get(word) in known:
        return f" Did you mean {_ELSEWHERE[word]!r}?"
    return did_you_mean(word, known)


def _number(text: str) -> int | float:
    whole = re.fullmatch(r"[+-]?\d{1,300}", text)
    return int(text) if whole else float(text)
