"""The cache folder of a kernel, named by all that its machine code is made of.

The machine code of a kernel holds that of its helpers, so it is kept in a folder named by a digest
of every source file that its module reaches through imports within its package. A helper may
therefore stand in any kernel file: when it changes, its callers are compiled again, and nothing
else is. The folders are in `NUMBA_CACHE_DIR` if it is set, else in the user's cache folder.
"""

import ast
import hashlib
import os
import re
import sys
from collections.abc import Iterator
from importlib.util import resolve_name
from pathlib import Path
from typing import Any, NamedTuple, cast

import numba

__all__ = ["cache_folder"]

_config: Any = numba.config  # numba sets its attributes from the environment


class _Source(NamedTuple):
    """A source file as it was when its module was imported."""

    version: tuple[int, int]
    digest: str
    imports: tuple[str, ...]


_SOURCES: dict[str, _Source] = {}
_COMPILER = "bottega._jit.parts"  # it decides what machine code the same sources become


def cache_folder(function: Any) -> Path | None:
    """Return the cache folder of a kernel; None if its sources or the folder cannot be named."""
    if function.__closure__:  # its machine code depends on more than sources
        return None
    module = function.__module__
    try:
        _read(module, again=True)
        reached = sorted(_reached(module, _reached(_COMPILER, set())))
        # What else decides the machine code of the same sources.
        settings = (numba.__version__, _config.BOUNDSCHECK, _config.OPT)
        text = repr((settings, [(name, _SOURCES[name].digest) for name in reached]))
        name = f"{module}-{hashlib.sha256(text.encode()).hexdigest()[:20]}"
        return _cache_root() / name
    except (OSError, KeyError, AttributeError, TypeError, SyntaxError, RuntimeError):
        return None


def _reached(module: str, found: set[str]) -> set[str]:
    """Add a module and all that it reaches to `found`."""
    _read(module)
    found.add(module)
    for name in _SOURCES[module].imports:
        # Of this package only the compiler decides the machine code, and it is counted already.
        if name not in found and name.rpartition(".")[0] != __package__ and name != __package__:
            _reached(name, found)
    return found


def _read(module: str, again: bool = False) -> None:
    """Remember a module's source. What others read is the version that was imported.

    Only the module whose kernels are being defined is looked at `again`, since it may have been
    reloaded; another module's file may have changed since its kernels were defined.
    """
    if module in _SOURCES and not again:
        return
    path = cast(str, sys.modules[module].__file__)
    status = os.stat(path)
    version = (status.st_mtime_ns, status.st_size)
    if module not in _SOURCES or _SOURCES[module].version != version:
        source = Path(path).read_bytes()
        imports = tuple(dict.fromkeys(_imports(module, source.decode())))
        _SOURCES[module] = _Source(version, hashlib.sha256(source).hexdigest(), imports)


def _imports(module: str, source: str) -> Iterator[str]:
    """Yield the loaded modules of the same package that a source imports."""
    package = module.partition(".")[0]
    for node in _import_statements(source):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            parent = "." * node.level + (node.module or "")
            if node.level:
                parent = resolve_name(parent, sys.modules[module].__package__)
            inside = [f"{parent}.{alias.name}" for alias in node.names]
            names = [name if name in sys.modules else parent for name in inside]
        yield from (name for name in names if name.partition(".")[0] == package)


def _import_statements(source: str) -> list[ast.Import | ast.ImportFrom]:
    # Imports stand before the first definition, and parsing the rest would take ten times as long.
    head = re.split(r"^(?:@|def |class )", source, maxsplit=1, flags=re.MULTILINE)[0]
    try:
        tree = ast.parse(head)
    except SyntaxError:  # such a line stood in a docstring
        tree = ast.parse(source)
    return [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]


def _cache_root() -> Path:
    if _config.CACHE_DIR:
        return Path(_config.CACHE_DIR)
    given = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME", "")
    base = Path(given) if os.path.isabs(given) else Path.home() / ".cache"
    return base / "bottega" / "kernels"
