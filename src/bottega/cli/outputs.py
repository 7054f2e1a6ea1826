"""The files of a command: checked before the work, and each written whatever the others do.

A comparison may take an hour. A name that cannot be written, or that is the data's own, is refused
before it starts; what fails afterwards (a full disk, say) takes nothing else down with it.
"""

import errno
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from fnmatch import fnmatch
from itertools import combinations
from pathlib import Path

from bottega.core import interruption
from bottega.core.errors import BottegaError, InputError
from bottega.data.read.files import Paths, expanded, find_files, format_of, is_bundled
from bottega.report.wording import in_words_of_the_command_line

__all__ = ["Ending", "check_folder", "check_outputs", "followed", "say", "write_out"]


def check_outputs(outputs: Mapping[str, Path | None], inputs: Mapping[str, Paths]) -> None:
    """Refuse files that could not be written after the work, or would overwrite one another.

    Parameters
    ----------
    outputs : mapping of str to Path or None
        The file that each option names.
    inputs : mapping of str to str or tuple of str
        What is read, by what it is: a file, a folder or a pattern, or several of them.
    """
    given = {option: path for option, path in outputs.items() if path is not None}
    for option, path in given.items():
        _check_writable(option, path)
    for (one, first), (other, second) in combinations(given.items(), 2):
        if _same(first, second):
            raise InputError(
                f"{one} and {other} name the same file, {_shown(second)}; give two names."
            )
    for what, source in inputs.items():
        files = _files_of(source)
        for option, path in given.items():
            if any(_same(path, Path(file)) for file in files):
                raise InputError(
                    f"{option} would overwrite {what}, {_shown(path)}; give another name."
                )
            if _would_join(path, source):
                raise InputError(
                    f"{option} {_shown(path)} would be read as a part of {what} next time; write "
                    "it to another folder."
                )


def check_folder(option: str, folder: Path | None) -> None:
    """Refuse a folder that could not be made or written to after the work."""
    if folder is None:
        return
    with _in_words(option, folder):
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{option} {_shown(folder)} is a file; give the name of a folder.")
        if folder.is_dir():
            _try_to_write(folder, "chart")
        else:
            _check_parent(folder)
            _try_to_write(folder.parent, folder.name)


def followed(path: Path) -> Path:
    """Return the file that a name stands for, so that a link keeps pointing where it points."""
    return Path(os.path.realpath(path))


def _check_writable(option: str, path: Path) -> None:
    with _in_words(option, path):
        path = followed(path)
        if path.is_dir():
            raise InputError(f"{option} {_shown(path)} is a folder; give the name of a file.")
        if path.exists() and not path.is_file():
            raise InputError(
                f"{option} {_shown(path)} is not an ordinary file; give the name of one."
            )
        _check_parent(path)
        if path.exists() and not os.access(path, os.W_OK):
            raise InputError(f"{option} {_shown(path)} is write-protected; give another name.")
        _try_to_write(path.parent, path.name)


def _check_parent(path: Path) -> None:
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {_shown(path.parent)} to write in; make it first.")


def _try_to_write(folder: Path, name: str) -> None:
    """Make a file as the later one will be made, and remove it."""
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name}.")
    os.close(handle)
    os.unlink(temporary)


@contextmanager
def _in_words(option: str, path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InputError(
                f"{option}: the name {_shown(path)} is too long ({len(path.name)} characters); "
                "give a shorter one."
            ) from error
        raise InputError(
            f"{option} {_shown(path)} cannot be written: {error.strerror or error}. Choose a "
            "folder that can be written to."
        ) from error


def _shown(path: Path) -> str:
    text = str(path)
    return repr(text if len(text) <= 120 else f"{text[:60]}...{text[-40:]}")


def _same(one: Path, other: Path) -> bool:
    """Return True if two names stand for one file, through links of either kind."""
    with suppress(OSError):
        return os.path.samefile(one, other)
    return os.path.normcase(os.path.realpath(one)) == os.path.normcase(os.path.realpath(other))


def _files_of(source: Paths) -> list[str]:
    if isinstance(source, str) and is_bundled(source):
        return []
    try:
        return find_files(expanded(source))
    except (InputError, OSError):  # whoever reads it says so
        return []


def _would_join(path: Path, source: Paths) -> bool:
    """Return True if a new file would be one of those that a folder or a pattern stands for."""
    source = expanded(source)
    if not isinstance(source, str):
        return any(_would_join(path, each) for each in source)
    if is_bundled(source) or format_of(str(path)) is None:
        return False
    if os.path.isdir(source):
        return _same(path.parent, Path(source))
    return not os.path.exists(source) and fnmatch(
        os.path.realpath(path),
        os.path.join(os.path.realpath(os.path.dirname(source)), "") + os.path.basename(source),
    )


class Ending:
    """The steps at the end of a command: each is tried, whatever became of those before it.

    Attributes
    ----------
    failed : bool
        Whether a step went wrong; standard error says which, and why.
    stopped : bool
        Whether the user stopped a step: what is quick is still done, the rest is left.
    """

    def __init__(self) -> None:
        self.failed = self.stopped = False
        self._broken_pipe: BrokenPipeError | None = None

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Try a step; its failure is told as a sentence that starts with `what` is missing."""
        try:
            yield
        except BrokenPipeError as error:  # the reader has gone (``| head``); files are still wanted
            self._broken_pipe = error
        except KeyboardInterrupt:
            self.stop()
            sys.stderr.write(f"stopped: {what}\n")
        except Exception as error:
            if os.environ.get("BOTTEGA_TRACEBACK"):
                raise
            self.failed = True
            sys.stderr.write(f"error: {what}: {reason_of(error)}\n")

    def stop(self) -> None:
        """Take notice that the user has stopped a step."""
        interruption.forget()
        self.failed = self.stopped = True

    def leaves(self, what: str) -> bool:
        """Return True, and tell it, if a step that takes long is not wanted after a stop."""
        if self.stopped:
            sys.stderr.write(f"stopped: {what}\n")
        return self.stopped

    def close(self) -> None:
        """Raise what the reader of standard output should notice."""
        if self._broken_pipe is not None:
            raise self._broken_pipe


def reason_of(error: Exception) -> str:
    """Return why something went wrong, as a user of the command line reads it."""
    if isinstance(error, BottegaError):
        return in_words_of_the_command_line(str(error))
    if isinstance(error, OSError):
        return f"{error.strerror or error}."
    return f"{type(error).__name__}: {error} (a fault of bottega; BOTTEGA_TRACEBACK=1 shows where)."


def write_out(text: str, end: str = "\n") -> None:
    """Write data to standard output."""
    try:
        sys.stdout.write(text + end)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError:
        with suppress(OSError, ValueError):  # what is still in its buffer would fail again at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def say(message: str, quiet: bool = False) -> None:
    """Write a message to standard error."""
    if not quiet:
        sys.stderr.write(message + "\n")
