"""The language of texts: by name, or found by the commonest words."""

import re
from collections.abc import Iterable
from itertools import islice

from bottega.core.errors import ParameterError, did_you_mean, require
from bottega.data.texts.stop_words import STOP_WORDS

LEAST_SHARE = 0.1  # of the words of a text that are stop words of its language; most have over 0.3
_LOOKED_AT = 1000  # texts that tell the language
_LONGEST = 2000  # characters of each that are looked at
_WORD = re.compile(r"\w+")
_CODES = {  # of ISO 639, which people know from other libraries
    "ar": "arabic", "hy": "armenian", "eu": "basque", "ca": "catalan", "cs": "czech",
    "da": "danish", "nl": "dutch", "en": "english", "eo": "esperanto", "et": "estonian",
    "fi": "finnish", "fr": "french", "de": "german", "el": "greek", "hi": "hindi",
    "hu": "hungarian", "id": "indonesian", "ga": "irish", "it": "italian", "lt": "lithuanian",
    "ne": "nepali", "no": "norwegian", "fa": "persian", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sr": "serbian", "es": "spanish", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip


def known_languages() -> list[str]:
    """Return the languages that words can be stemmed in."""
    return list(require("snowballstemmer", "text").algorithms())


def check_language(language: str | None) -> None:
    """Raise for a language that there is no stemmer for."""
    if language in (None, "auto") or language in known_languages():
        return
    known, asked = known_languages(), str(language)
    asked = _CODES.get(re.split("[-_]", asked.lower())[0], asked)
    raise ParameterError(
        f"language={language!r} is not known.{did_you_mean(asked, known)} Known are 'auto' "
        f"(English or Italian, by their commonest words), None (words as they are) and "
        f"{', '.join(known)}."
    )


def find_language(texts: Iterable[str]) -> str | None:
    """Return the language whose stop words are commonest in texts; None where none is common.

    Examples
    --------
    >>> find_language(["La cosa che mi è piaciuta di più è il finale."])
    'italian'
    >>> find_language(["Lorem ipsum dolor sit amet"]) is None
    True
    """
    words = [
        word
        for text in islice(texts, _LOOKED_AT)
        for word in _WORD.findall(text[:_LONGEST].lower())
    ]
    shares = {
        language: sum(word in common for word in words) for language, common in STOP_WORDS.items()
    }
    best = max(shares, key=lambda language: shares[language])
    return best if words and shares[best] >= LEAST_SHARE * len(words) else None
