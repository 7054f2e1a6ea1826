"""Print the oldest versions that pyproject.toml admits, as constraints for pip."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


def requirements(extra: str) -> Iterator[str]:
    """Yield what an extra of this package needs; it may name other extras."""
    for line in PROJECT["optional-dependencies"][extra]:
        others = re.fullmatch(rf"{PROJECT['name']}\[(.+)\]", line)
        if others is None:
            yield line
        else:
            for other in others.group(1).split(","):
                yield from requirements(other.strip())


def oldest(extra: str) -> list[str]:
    """Return ``name==version`` for each lower limit of the package and of one of its extras."""
    lines = sorted({*PROJECT["dependencies"], *requirements(extra)})
    return [line.replace(">=", "==") for line in lines]


if __name__ == "__main__":
    print("\n".join(oldest("test")))
