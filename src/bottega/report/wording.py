"""Messages in the words of the call that they are read after: Python, or the command line."""

import re
import shlex

__all__ = ["in_words_of", "in_words_of_the_command_line"]

# Arguments of Python that are options here, by the option's name where it is another.
_OPTIONS = {
    "budget": "--budget",
    "encoding": "--encoding",
    "exclude": "--exclude",
    "group": "--group",
    "groups": "--group",
    "handle_unknown": "--handle-unknown",
    "measure": "--measure",
    "methods": "--methods",
    "query": "--query",
    "resume": "--resume",
    "select": "--select",
    "table": "--table",
    "task": "--task",
    "test_size": "--test-size",
    "time": "--time",
    "weight": "--weight",
    "weights": "--weight",
    "with_": "--with",
}
_PYTHON_ONLY = ", a Loss such as Cost(matrix), or a function of truth and prediction"
_ARGUMENT = re.compile(
    rf"\b({'|'.join(_OPTIONS)})=(?:'([^']*)'|\[((?:'[^']*'(?:, )?)+)\]|(\w+(?:\.\w+)*))?"
)


def in_words_of(command: str, message: str) -> str:
    """Return a message with its cures as options, where the command was one of the command line."""
    return in_words_of_the_command_line(message) if command.startswith("bottega ") else message


def in_words_of_the_command_line(message: str) -> str:
    """Turn the cures that a message names as Python arguments into options.

    Examples
    --------
    >>> in_words_of_the_command_line("give encoding='latin-1', or kinds={'age': 'number'}")
    "give --encoding latin-1, or --kind 'age=number'"
    >>> in_words_of_the_command_line("split by time, time='sold on', or test_size=0.25")
    "split by time, --time 'sold on', or --test-size 0.25"
    """
    message = re.sub(r"kinds=\{'([^']*)': ([^}]*)\}", _as_kind, message)
    message = message.replace("again=True", "--again")
    message = message.replace(_PYTHON_ONLY, ", or give --cost for what errors cost")
    message = re.sub(r"ignore=\['([^']*)'\]", r"--ignore '\1'", message)
    message = re.sub(r"\b(groups?|time|weights?)=\.\.\.", _as_column, message)
    return _ARGUMENT.sub(_as_option, message)


def _as_column(found: re.Match[str]) -> str:
    return f"{_OPTIONS[found[1]]} COLUMN"


def _as_option(found: re.Match[str]) -> str:
    name, text, texts, plain = found.groups()
    if texts is not None:
        text = ",".join(re.findall(r"'([^']*)'", texts))
    value = plain if text is None else shlex.quote(text)
    return f"{_OPTIONS[name]} {value or ''}".rstrip()


def _as_kind(found: re.Match[str]) -> str:
    kind = found[2].strip("'").replace("...", "KIND")
    return f"--kind '{found[1]}={kind}'"
