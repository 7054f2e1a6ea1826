"""Messages as a user of the command line reads them."""

import re

__all__ = ["in_words_of_the_command_line"]


def in_words_of_the_command_line(message: str) -> str:
    """Turn the cures that a message names as Python arguments into options.

    Examples
    --------
    >>> in_words_of_the_command_line("give encoding='latin-1', or kinds={'age': 'number'}")
    "give --encoding latin-1, or --kind 'age=number'"
    """
    message = re.sub(r"kinds=\{'([^']*)': ([^}]*)\}", _as_kind, message)
    message = message.replace("again=True", "--again")
    message = re.sub(r"ignore=\['([^']*)'\]", r"--ignore '\1'", message)
    names = "encoding|handle_unknown|task|table|query"
    return re.sub(
        rf"\b({names})=(?:'([^']*)')?",
        lambda found: f"--{found[1].replace('_', '-')} {found[2] or ''}".rstrip(),
        message,
    )


def _as_kind(found: re.Match[str]) -> str:
    kind = found[2].strip("'").replace("...", "KIND")
    return f"--kind '{found[1]}={kind}'"
