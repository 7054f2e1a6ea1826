"""A corpus: texts, and what is known about each of them."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.errors import InputError, did_you_mean
from bottega.core.frames import make_frame
from bottega.data import convert
from bottega.data.columns import profile
from bottega.data.read import read_chunks
from bottega.data.read.documents import find_documents, read_document
from bottega.data.texts.reading import as_texts

__all__ = ["Corpus", "read_corpus"]

_ROWS = 20_000  # of a chunk of a stream


class Corpus:
    """Texts with what is known about each of them; made by `read_corpus`.

    It can be iterated over any number of times, text by text. Where it is a stream, every pass
    reads the files anew, and one chunk of them is in memory at a time.

    Parameters
    ----------
    texts : iterable of str
        The texts.
    frame : data frame, optional
        Further columns, one row per text.

    Examples
    --------
    >>> corpus = Corpus(["Good.", "Very bad!"])
    >>> len(corpus), [text.lower() for text in corpus]
    (2, ['good.', 'very bad!'])
    """

    def __init__(self, texts: Iterable[str], frame: Any = None) -> None:
        held = as_texts(texts, "texts")
        if frame is not None and len(convert.as_frame(frame)) != len(held):
            raise InputError(
                f"frame has {len(convert.as_frame(frame))} rows for {len(held)} texts; give one "
                "row per text."
            )
        self._passes: Callable[[], Iterator[tuple[list[str], Any]]] = lambda: iter([(held, frame)])
        self.stream = False

    @classmethod
    def _streamed(cls, passes: Callable[[], Iterator[tuple[list[str], Any]]]) -> "Corpus":
        corpus = object.__new__(cls)
        corpus._passes, corpus.stream = passes, True
        return corpus

    def __iter__(self) -> Iterator[str]:
        for texts, _ in self._passes():
            yield from texts

    def __len__(self) -> int:
        return sum(len(texts) for texts, _ in self._passes())

    def chunks(self) -> Iterator["Corpus"]:
        """Yield the corpus in parts that are in memory, one at a time."""
        for texts, frame in self._passes():
            yield Corpus(texts, frame)

    @property
    def texts(self) -> list[str]:
        """All texts in memory."""
        return list(self)

    @property
    def frame(self) -> Any:
        """The further columns, one row per text; None where there are none. In memory only."""
        if self.stream:
            raise InputError(
                "A corpus that is a stream has its columns chunk by chunk: see corpus.chunks()."
            )
        ((_, frame),) = self._passes()
        return frame

    def column(self, name: str) -> list[Any]:
        """Return one of the further columns, None where a value is missing."""
        found: list[Any] = []
        for _, frame in self._passes():
            data = None if frame is None else convert.as_frame(frame)
            known = [] if data is None else data.columns
            if data is None or name not in known:
                raise InputError(
                    f"The corpus has no column {name!r}.{did_you_mean(name, known)} Its columns "
                    f"are {', '.join(map(repr, known)) or 'none'}."
                )
            found += convert.texts(data[name])
        return found

    def __repr__(self) -> str:
        kind = "a stream of texts" if self.stream else f"{len(self):,} texts"
        return f"Corpus: {kind}"


def read_corpus(
    source: Any,
    text: str | None = None,
    *,
    encoding: str = "utf-8",
    errors: str = "strict",
    pattern: str = "**/*.txt",
    stream: bool = False,
) -> Corpus:
    """Read texts from a folder, a file of rows, a data frame, or a list of texts.

    Parameters
    ----------
    source : path, data frame, or list, series or array of texts
        A folder, each file of which is a text; or what `bottega.data.read` takes: CSV, TSV, Parquet
        or JSON lines, each row of which has a text; or the texts themselves.
    text : str, optional
        The column that holds the texts; by default the only one that holds free text.
    encoding : str
        The encoding of text files. A file that starts with the mark of UTF-8 or UTF-16 is read so.
    errors : {"strict", "replace"}
        Whether bytes that cannot be read are refused, or replaced by a sign that no word has. JSON
        files are always refused.
    pattern : str
        Which files of a folder are texts; ``**/`` stands for folders inside it, too.
    stream : bool
        Leave the texts where they are, and read them in every pass.

    Returns
    -------
    Corpus
        The other columns are kept in `frame`; of a folder they are ``file``, the path inside it,
        and ``folder``, the first folder on that path, which is often the class of a text.

    Raises
    ------
    InputError
        Where there is nothing to read, the column is not clear, or bytes are not of the encoding.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"review": ["Good film.", "Boring."], "stars": [5, 1]})
    >>> corpus = read_corpus(frame, "review")
    >>> corpus.texts, corpus.column("stars")
    (['Good film.', 'Boring.'], [5, 1])
    """
    if errors not in ("strict", "replace"):
        raise InputError(f"errors is 'strict' or 'replace', not {errors!r}.")
    if text is None and _is_of_texts(source):
        return Corpus(source)
    if isinstance(source, str | os.PathLike) and Path(source).expanduser().is_dir():
        folder = Path(source).expanduser()
        files = find_documents(folder, pattern)

        def passes() -> Iterator[tuple[list[str], Any]]:
            names = iter(files)
            while part := list(islice(names, _ROWS if stream else len(files))):
                texts = [read_document(folder / name, encoding, errors) for name in part]
                parents = [
                    Path(name).parts[0] if len(Path(name).parts) > 1 else "" for name in part
                ]
                yield texts, make_frame({"file": part, "folder": parents})
    else:
        how: dict[str, Any] = {"rows": _ROWS, "encoding": encoding, "errors": errors}
        chosen = text if text is not None else _text_column(source, how)

        def passes() -> Iterator[tuple[list[str], Any]]:
            for chunk in read_chunks(source, **how, text=[chosen]):
                frame = convert.as_frame(chunk)
                if chosen not in frame.columns:
                    raise InputError(
                        f"There is no column {chosen!r}.{did_you_mean(chosen, frame.columns)} The "
                        f"columns are {', '.join(map(repr, frame.columns[:8]))}."
                    )
                texts = as_texts(convert.texts(frame[chosen]), f"Column {chosen!r}")
                others = [name for name in frame.columns if name != chosen]
                yield texts, frame.select(others).to_native() if others else None

    return Corpus._streamed(passes) if stream else _gathered(passes())


def _gathered(parts: Iterator[tuple[list[str], Any]]) -> Corpus:
    """Return a corpus in memory from the chunks of one pass."""
    texts: list[str] = []
    frames = []
    for found, frame in parts:
        texts += found
        frames.append(frame)
    if not frames or frames[0] is None:
        return Corpus(texts)
    return Corpus(texts, convert.joined_frames(frames))


def _is_of_texts(source: Any) -> bool:
    """Return True for a list, a series or an array of texts; refuse a list of files."""
    if isinstance(source, list | tuple):
        named = [each for each in source if isinstance(each, str | os.PathLike)]
        if named and all(isinstance(e, os.PathLike) or os.path.isfile(e) for e in named):
            raise InputError(
                "source is a list of files: give their folder, with pattern=, where each file is a "
                "text, and text= the name of the column where they hold rows."
            )
        return True
    series = nw.from_native(source, series_only=True, pass_through=True)
    return isinstance(series, nw.Series) or (isinstance(source, np.ndarray) and source.ndim == 1)


def _text_column(source: Any, how: Mapping[str, Any]) -> str:
    """Return the only column of free text, judged by the first chunk."""
    first = next(iter(read_chunks(source, **how)), None)
    if first is None:
        raise InputError("There are no rows to read texts from.")
    frame = convert.as_frame(first)
    texts = [name for name in frame.columns if convert.storage(frame[name]) == "string"]
    free = [name for name in texts if profile(frame[name]).kind == "text"]
    chosen = free or texts
    if len(chosen) == 1:
        return chosen[0]
    raise InputError(
        f"It is not clear which column holds the texts: {len(chosen)} do "
        f"({', '.join(map(repr, chosen[:8])) or 'none'}); give text= the name of one."
    )
