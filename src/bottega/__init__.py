"""A workshop for statistical learning: every method with its path, its card and its certificate.

The public names are loaded on first use, so that ``import bottega`` costs next to nothing.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

__version__ = "0.1.0"

_HOME_OF = {
    "Certificate": "bottega.core.certificate",
    "Comparison": "bottega.workbench",
    "Description": "bottega.workbench",
    "Path": "bottega.core.path",
    "Table": "bottega.data",
    "cards": "bottega.registry",
    "catalogue": "bottega.registry",
    "compare": "bottega.workbench",
    "describe": "bottega.workbench",
    "load": "bottega.workbench",
    "read": "bottega.data",
}
_TOPICS = [
    each.name
    for each in iter_modules(__path__)
    if each.ispkg and each.name != "cli" and not each.name.startswith("_")
]

__all__ = ["__version__", *_HOME_OF, *_TOPICS]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
        globals()[name] = value
        return value
    if name in _TOPICS:
        return import_module(f"bottega.{name}")
    raise AttributeError(f"module 'bottega' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
