"""Messages in the words of the call that they are read after: Python, or the command line."""

import re
import shlex

__all__ = ["in_words_of", "in_words_of_the_command_line"]

# Arguments of Python that are options here, by the option's name where it is another.
_OPTIONS = {
    "budget": "--budget",
    "class_weight": "--class-weight",
    "decimal": "--decimal",
    "encoding": "--encoding",
    "exclude": "--exclude",
    "false_alarm": "--false-alarm",
    "group": "--group",
    "groups": "--group",
    "handle_unknown": "--handle-unknown",
    "interval": "--interval",
    "max_clusters": "--max-clusters",
    "measure": "--measure",
    "methods": "--methods",
    "n_jobs": "--jobs",
    "outer": "--outer",
    "query": "--query",
    "random_state": "--random-state",
    "resume": "--resume",
    "sample": "--sample",
    "select": "--select",
    "table": "--table",
    "target": "--target",
    "task": "--task",
    "test_size": "--test-size",
    "time": "--time",
    "weight": "--weight",
    "weights": "--weight",
    "with_": "--with",
}
_PYTHON_ONLY = ", a Loss such as Cost(matrix), or a function of truth and prediction"
_NAMES = "|".join(_OPTIONS)
_ARGUMENT = re.compile(rf"\b({_NAMES})=(?:'([^']*)'|\[((?:'[^']*'(?:, )?)+)\]|(-?\w+(?:\.\w+)*))?")
# How the checks of arguments write what is allowed.
_RANGE = re.compile(r"(number) in \[(\d+), inf\)")
_MUST = re.compile(rf"(is not allowed; )(?:{_NAMES})( must)")
_BARE = re.compile(r"\b(random_state|n_jobs|class_weight)\b(?!=)")  # never words of English


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
    >>> in_words_of_the_command_line("compare: outer=1 is not allowed; outer must be a whole \
number in [2, inf).")
    '--outer 1 is not allowed; it must be a whole number of at least 2.'
    """
    message = message.removeprefix("compare: ").removeprefix("describe: ")
    message = _RANGE.sub(r"\1 of at least \2", message)
    message = re.sub(r"^(columns|exclude)(?= (?:names|is) )", r"--\1", message)
    message = _MUST.sub(r"\1it\2", message)
    message = message.replace("stack=False", "--no-stack")
    message = re.sub(r"give (group|time)=False", r"leave --\1 out", message)
    message = message.replace("kinds={...}", "--kind NAME=KIND")
    message = re.sub(r"\bkinds(?= names? )", "--kind", message)
    message = re.sub(r"kinds=\{'([^']*)': ([^}]*)\}", _as_kind, message)
    message = message.replace("again=True", "--again")
    message = message.replace(_PYTHON_ONLY, ", or give --cost for what errors cost")
    message = re.sub(r"ignore=\['([^']*)'\]", r"--ignore '\1'", message)
    message = re.sub(r"\b(groups?|time|weights?)=\.\.\.", _as_column, message)
    message = _ARGUMENT.sub(_as_option, message)
    return _BARE.sub(lambda found: _OPTIONS[found[1]], message)


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
