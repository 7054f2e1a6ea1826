"""Numbers as people write them: currency, unit, percent, thousands, decimal points and commas.

One text is read by rule once the decimal sign is known. Which sign a column uses is found from all
its texts: ``80,5`` can only be a decimal comma, ``1,234.5`` only a decimal point, and ``1,234``
either.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_MONEY = r"[$€£¥₹₽₩₺₪฿]|(?:USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|kr)\b\.?"
_UNIT = r"(?:[kmcd]?m|[km]?g|[mcd]?l|km/h|m²|m³|mq|h|min|kWh?|°[CF]|lbs?|oz|ft)(?!\w)\.?"
_SIGN = "[+\\-\u2212]?"  # the last one is the minus sign of typesetters
_EDGES = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>{_SIGN})\s*(?P<before>{_MONEY})?\s*(?P<inner>{_SIGN})\s*"
    r"(?P<body>[\d.,][\d.,'\u2019 \u00a0\u202f]*(?:[eE][+-]?\d+)?)"
    rf"\s*(?P<percent>%)?\s*(?P<after>{_MONEY}|{_UNIT})?\s*(?P<close>\))?"
)
_ZERO_LED = re.compile(r"\s*0\d+\s*")
_WHOLE = re.compile(r"\d+")
_GROUPED = re.compile(r"[1-9]\d{0,2}([.,])\d{3}")


def _body(decimal: str, thousands: str) -> re.Pattern[str]:
    groups = rf"[1-9]\d{{0,2}}(?P<by>[{thousands}'\u2019 \u00a0\u202f])\d{{3}}(?:(?P=by)\d{{3}})*"
    return re.compile(
        rf"(?P<whole>{groups}|\d+)?(?:{re.escape(decimal)}(?P<part>\d*))?(?P<power>[eE][+-]?\d+)?"
    )


_BODIES = {".": _body(".", ","), ",": _body(",", ".")}
_BARE = {
    sign: re.compile(rf"[+-]?(?:\d+|[1-9]\d{{0,2}}(?:{parts}\d{{3}})+)(?:{re.escape(sign)}\d+)?")
    for sign, parts in ((".", ","), (",", r"\."))
}
_UNPARTED = {".": str.maketrans("", "", ","), ",": str.maketrans(",", ".", ".")}


# Words that mean a missing value in every spreadsheet, where the rest are numbers or dates.
_GAPS = frozenset(
    ("", "-", "--", "\u2013", "?", ".", "na", "n/a", "#n/a", "n.a.", "nan", "null", "none", "nil")
)
_GAPS |= {"n/d", "n.d.", "missing", "unknown", "#value!", "#div/0!", "#ref!", "#num!"}


def is_gap(text: str) -> bool:
    """Return True if a text means a missing value among numbers or dates."""
    return text.strip().casefold() in _GAPS


def is_number(text: str) -> bool:
    """Return True if a text is a plain decimal number."""
    return _PLAIN.fullmatch(text.strip()) is not None


def number(text: str, decimal: str = ".") -> float | None:
    """Return the number that a text stands for, None if it stands for none.

    Blanks, apostrophes, and commas (points, where the decimal sign is a comma) may part the
    thousands; a currency or a unit does not count; a percentage is a hundredth; parentheses are a
    minus.

    Examples
    --------
    >>> number("$1,200.50"), number("1.200,50 €", ","), number("12%"), number("(3)"), number("3 kg")
    (1200.5, 1200.5, 0.12, -3.0, 3.0)
    """
    if _BARE[decimal].fullmatch(text):  # most are: the rest is slower
        return float(text.translate(_UNPARTED[decimal]))
    text = text.strip()
    if decimal == "." and _PLAIN.fullmatch(text):
        return float(text)
    edges = _EDGES.fullmatch(text)
    if edges is None or (edges["open"] is None) != (edges["close"] is None):
        return None
    signs = edges["sign"] + edges["inner"]
    body = _BODIES[decimal].fullmatch(edges["body"].rstrip())
    if len(signs) > 1 or (edges["before"] and edges["after"]) or body is None:
        return None
    whole = "".join(_WHOLE.findall(body["whole"] or ""))
    if not (whole or body["part"]):
        return None
    size = float(f"{whole or 0}.{body['part'] or 0}{body['power'] or ''}")
    if edges["percent"]:
        size = size / 100
    return -size if edges["open"] or signs in ("-", "\u2212") else size


def unit(text: str) -> str | None:
    """Return the currency or the unit that a text names."""
    edges = _EDGES.fullmatch(text.strip())
    return None if edges is None else (edges["before"] or edges["after"])


@dataclass(frozen=True)
class Writing:
    """How the numbers of a column are written.

    Attributes
    ----------
    decimal : str
        The decimal sign.
    values : dict of str to float
        The texts that are numbers, in their order, and what they stand for.
    plain : bool
        Whether all of them are plain decimal numbers.
    codes : bool
        Whether some begin with a zero, as codes do.
    example : str
        A number that is not plain, or the first.
    sure : bool
        Whether only one decimal sign makes sense.
    """

    decimal: str
    values: dict[str, float]
    plain: bool
    codes: bool
    example: str
    sure: bool


def writing(texts: Iterable[str], decimal: str | None = None, usual: str | None = None) -> Writing:
    """Find how the numbers among distinct texts are written.

    Parameters
    ----------
    texts : iterable of str
        Texts, numbers among them.
    decimal : {".", ","}, optional
        The decimal sign, where it is known.
    usual : {".", ","}, optional
        The decimal sign of other columns, for texts that can be read either way.

    Examples
    --------
    >>> list(writing(["970", "1,000", "1,030"]).values.values())
    [970.0, 1000.0, 1030.0]
    >>> list(writing(["0,97", "1,000", "1,030"]).values.values())
    [0.97, 1.0, 1.03]
    """
    texts = list(texts)
    if decimal is not None:
        return _written(texts, decimal, sure=True)
    if not any("," in text for text in texts):
        return _written(texts, *_by_points(texts, usual))
    by_point = _written(texts, ".", sure=True)
    parted = any("," in text and (text.count(",") > 1 or "." in text) for text in texts)
    if len(by_point.values) == len(texts) and parted:
        return by_point  # which decimal commas could not explain
    by_comma = _written(texts, ",", sure=True)
    if len(by_point.values) != len(by_comma.values):
        return by_point if len(by_point.values) > len(by_comma.values) else by_comma
    apart = [t for t, value in by_point.values.items() if by_comma.values.get(t) != value]
    if not apart:
        return by_point
    if any("." in text for text in apart) or not _groups_for_certain(apart, by_point.values):
        return _written(texts, usual or ".", sure=False)
    return by_point


def _by_points(texts: list[str], usual: str | None) -> tuple[str, bool]:
    """Return the decimal sign of texts without commas: a point, unless it parts thousands."""
    pointed = [text for text in texts if "." in text]
    if not pointed or not all(_GROUPED.search(text) for text in pointed):
        several = [text for text in pointed if text.count(".") > 1]
        grouped = several and all(number(text, ",") is not None for text in pointed)
        return ("," if grouped else "."), True
    if any(number(text, ",") is None for text in pointed):
        return ".", True
    if any(text.count(".") > 1 for text in pointed) or _groups_for_certain(pointed, texts):
        return ",", True
    return (usual or "."), False


def _groups_for_certain(apart: list[str], numbers: Iterable[str]) -> bool:
    """Return True if three digits behind a sign cannot be decimals.

    Decimals are written out to the same length in every row, or without zeros at the end.
    """
    short = any(_WHOLE.fullmatch(_digits(text)) for text in numbers)
    return short and any(_digits(text).endswith("0") for text in apart)


def _digits(text: str) -> str:
    """Return a number without sign, currency and unit; any other text as it is."""
    edges = _EDGES.fullmatch(text.strip())
    return text if edges is None else edges["body"].strip()


def _written(texts: list[str], decimal: str, sure: bool) -> Writing:
    values = {}
    odd_signs = set()
    for text in texts:
        value = number(text, decimal)
        if value is not None and math.isfinite(value):
            values[text] = value
            if not text[-1].isdigit() or not text[0].isdigit():
                odd_signs.add(unit(text))
    if len(odd_signs - {None}) > 1:
        values = {}  # several currencies or units cannot be compared
    odd = next((text for text in values if not is_number(text)), None)
    codes = any(text[0] in "0 " and _ZERO_LED.fullmatch(text) for text in values)
    example = odd or next(iter(values), "")
    plain = odd is None and (decimal == "." or not any("." in text for text in values))
    return Writing(decimal, values, plain, codes, example, sure)


def usual_sign(columns: Iterable[Iterable[str]]) -> str | None:
    """Return the decimal sign that some columns use beyond doubt, None where they disagree."""
    found = set()
    for texts in columns:
        texts = list(texts)
        seen = writing(texts)
        if seen.sure and len(seen.values) > len(texts) / 2:
            other = writing(texts, "," if seen.decimal == "." else ".")
            if other.values != seen.values:
                found.add(seen.decimal)
    return found.pop() if len(found) == 1 else None
