"""Files that are one text each."""

import codecs
from pathlib import Path

from bottega.core.errors import InputError

__all__ = ["find_documents", "read_document"]

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def find_documents(folder: Path, pattern: str) -> list[str]:
    """Return the paths of the files inside a folder that match a pattern, in order of name."""
    found = sorted(str(path.relative_to(folder)) for path in folder.glob(pattern) if path.is_file())
    if not found:
        raise InputError(
            f"The folder {str(folder)!r} holds no file that matches {pattern!r}; give another "
            "pattern, such as pattern='*.md', or the file of rows itself."
        )
    return found


def read_document(path: Path, encoding: str = "utf-8", errors: str = "strict") -> str:
    """Return the text of a file; a mark of UTF-8 or UTF-16 at its start overrides `encoding`."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"The file {str(path)!r} cannot be read: {error}.") from error
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), encoding)
    try:
        return content.decode(encoding, errors)
    except LookupError as error:
        raise InputError(
            f"The encoding {encoding!r} is not known; try 'utf-8', 'latin-1' or 'utf-16'."
        ) from error
    except UnicodeError as error:
        place = getattr(error, "start", 0)
        cure = "'latin-1'" if encoding.startswith("utf-8") else "'utf-8' or another one"
        raise InputError(
            f"The file {str(path)!r} is not {encoding.upper()} text: byte {place + 1} cannot be "
            f"read; give encoding={cure}, or errors='replace' to go on without it."
        ) from error
