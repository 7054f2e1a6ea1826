"""The one place that imports numba: how kernels are compiled, and where their machine code is kept.

Kernels take arrays, scalars and integer codes, release the GIL and are cached on disk. They are
serial: folds and methods run side by side in threads, and two levels of threads would fight for
the same cores.

The machine code of a kernel holds that of its helpers, so it is kept in a folder named by a digest
of every source file that its module reaches through imports within its package. A helper may
therefore stand in any kernel file: when it changes, its callers are compiled again, and nothing
else is. The folders are in `NUMBA_CACHE_DIR` if it is set, else in the user's cache folder. Where
nothing can be written there, kernels are compiled in every process.
"""

import ast
import contextlib
import functools
import hashlib
import os
import pickle
import re
import shutil
import sys
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from importlib.util import resolve_name
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import numba

__all__ = ["kernel", "summing_kernel"]

F = TypeVar("F", bound=Callable[..., Any])

_config: Any = numba.config  # numba sets its attributes from the environment

_UNUSED_DAYS = 90  # a folder of superseded sources is removed when unused for so long


def kernel(function: F) -> F:
    """Compile a kernel on its first call; the machine code is kept for later processes."""
    return _compiled(function, fastmath=False)


def summing_kernel(function: F) -> F:
    """As `kernel`, for helpers on a hot path whose sums may be taken in any order.

    Several parts of a sum are then added up side by side, and a product may be joined to a sum
    without rounding in between. NaN and infinity keep their meaning.
    """
    return _compiled(function, fastmath={"reassoc", "contract", "nsz"})


def _compiled(function: F, fastmath: Any) -> F:
    if _config.DISABLE_JIT:
        return function
    dispatcher: Any = numba.njit(nogil=True, fastmath=fastmath)(function)
    compile_types = dispatcher.compile
    enable_cache = functools.cache(functools.partial(_enable_cache, dispatcher, _folder(function)))

    def compile_once(types: Any) -> Any:
        enable_cache()
        # A helper called with the constants 0 and 1 would be compiled for each of them.
        return compile_types(tuple(map(numba.types.unliteral, types)))

    dispatcher.compile = compile_once
    return cast(F, dispatcher)


class _Source(NamedTuple):
    """A source file as it was when its module was imported."""

    version: tuple[int, int]
    digest: str
    imports: tuple[str, ...]


_SOURCES: dict[str, _Source] = {}


def _folder(function: Any) -> Path | None:
    """Return the cache folder of a kernel; None if its sources or the folder cannot be named."""
    if function.__closure__:  # its machine code depends on more than sources
        return None
    module = function.__module__
    try:
        _read(module, again=True)
        reached = sorted(_reached(module, _reached(__name__, set())))
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
        if name not in found:
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


@functools.cache
def _tidy(folder: Path) -> None:
    """Mark a folder as used; remove those of superseded sources that nobody has used for long."""
    with contextlib.suppress(OSError):
        if folder.exists():
            os.utime(folder)
            return
        oldest = time.time() - _UNUSED_DAYS * 86400
        for other in folder.parent.glob(folder.name.rpartition("-")[0] + "-*"):
            if other.stat().st_mtime < oldest:
                shutil.rmtree(other, ignore_errors=True)


def _enable_cache(dispatcher: Any, folder: Path | None) -> None:
    if _KernelCache is not None and folder is not None:
        _tidy(folder)
        dispatcher._cache = _KernelCache(dispatcher.py_func, folder)
        return
    with contextlib.suppress(RuntimeError):  # numba finds no folder that it may write to
        dispatcher.enable_caching()


_KernelCache: Any = None
try:
    from numba.core.caching import _Cache as _Interface
    from numba.core.compiler import CompileResult as _Result
    from numba.core.serialize import dumps as _dumps

    _names = {"cache_path", "load_overload", "save_overload", "enable", "disable", "flush"}
    _as_expected = _Interface.__abstractmethods__ == _names and all(
        hasattr(_Result, name) for name in ("_reduce", "_rebuild", "codegen", "lifted", "library")
    )
except (ImportError, AttributeError):  # pragma: no cover
    _as_expected = False

if _as_expected:

    class _FolderCache(_Interface):
        """The machine code of one kernel in a folder that belongs to its sources.

        There is one file per signature, processor and version of Python. numba's own cache numbers
        its files in an index, which two processes that compile two signatures at once can spoil.
        """

        def __init__(self, function: Any, folder: Path) -> None:
            self._code = hashlib.sha256(function.__code__.co_code).hexdigest()
            self._folder = folder
            self._name = function.__qualname__.replace("<", "").replace(">", "")

        @property
        def cache_path(self) -> str:
            return str(self._folder)

        def _key(self, types: Any, codegen: Any) -> tuple[Any, ...]:
            return types, codegen.magic_tuple(), sys.implementation.cache_tag, self._code

        def _file(self, key: tuple[Any, ...]) -> Path:
            digest = hashlib.sha256(repr(key).encode()).hexdigest()[:20]
            return self._folder / f"{self._name}-{digest}.nbc"

        def load_overload(self, types: Any, target_context: Any) -> Any:
            target_context.refresh()
            key = self._key(types, target_context.codegen())
            try:
                stored_key, parts = pickle.loads(self._file(key).read_bytes())
                if stored_key == key:
                    return _Result._rebuild(target_context, *parts)
            except Exception:
                # Not there, not readable or damaged: whatever it is, compiling is the cure.
                pass
            return None

        def save_overload(self, types: Any, result: Any) -> None:
            if result.lifted or result.library.has_dynamic_globals:
                warnings.warn(f"kernel {self._name} cannot be cached on disk", stacklevel=2)
                return
            key = self._key(types, result.codegen)
            file = self._file(key)
            part = file.with_suffix(f".{uuid.uuid4().hex}")
            with contextlib.suppress(OSError):
                self._folder.mkdir(parents=True, exist_ok=True)
                try:
                    part.write_bytes(_dumps((key, result._reduce())))
                    part.replace(file)  # at once: another process sees the whole file or none
                finally:
                    part.unlink(missing_ok=True)

        def enable(self) -> None: ...

        def disable(self) -> None: ...

        def flush(self) -> None:
            for file in self._folder.glob(f"{self._name}-*.nbc"):
                file.unlink(missing_ok=True)

    _KernelCache = _FolderCache
