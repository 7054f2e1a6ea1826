"""Helpers are linked into the kernels that call them, and become machine code there alone.

numba makes machine code of every function that a kernel calls, though the kernel holds a copy of
that function and is optimized as a whole. Here a function that is called while a kernel is compiled
stays intermediate code: it is linked into the kernel, optimized with it, and never emitted alone.
That halves the time. It relies on how the versions of numba that were tested compile; with others,
kernels are compiled in numba's own way.
"""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba

__all__ = ["AVAILABLE", "compiled"]

_njit: Any = numba.njit  # it takes more than its types say
_config: Any = numba.config
_NEIGHBOURS = "SLP_VECTORIZE"  # numba's name of the setting, from superword-level parallelism
_thread = threading.local()


def compiled(function: Any, *, any_order: bool, neighbours: bool = False) -> Any:
    """Return a dispatcher for `function` whose helpers are linked as parts.

    With `any_order` sums may be taken in any order. With `neighbours` operations on neighbours that
    are written out become vectors, which numba leaves out unless a setting of the process wants it.
    """
    options = {"nogil": True, "fastmath": {"reassoc", "contract", "nsz"} if any_order else False}
    if not AVAILABLE:
        return _njit(**options)(function)
    pipeline = _NeighboursPipeline if neighbours else _WholePipeline
    whole = _njit(pipeline_class=pipeline, no_cfunc_wrapper=True, **options)(function)
    # The function as other kernels call it, which has no entry from Python.
    part = _njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)(function)
    own_template, own_overload = whole.get_call_template, whole.get_overload
    compile_part, compile_whole = part.compile, whole._compiler.compile

    def get_call_template(args: Any, kws: Any) -> Any:
        return part.get_call_template(args, kws) if _inside() else own_template(args, kws)

    def get_overload(signature: Any) -> Any:
        return part.get_overload(signature) if _inside() else own_overload(signature)

    def compile_kernel(args: Any, return_type: Any) -> Any:
        with _linking_parts(whole.targetctx.codegen()) as codegen:
            result = compile_whole(args, return_type)
        for env in result._find_referenced_environments():  # those of the parts are not set yet
            codegen.set_env(env.env_name, env)
        return result

    # A helper called with the constants 0 and 1 would be compiled for each of them.
    part.compile = lambda types: compile_part(without_constants(types))
    whole.get_call_template, whole.get_overload = get_call_template, get_overload
    whole._compiler.compile = compile_kernel
    whole.part = part
    return whole


def without_constants(types: Any) -> tuple[Any, ...]:
    """Return types in which a constant is any number of its type."""
    return tuple(map(numba.types.unliteral, types))


def _inside() -> bool:
    """Return True while this thread compiles a kernel."""
    return getattr(_thread, "inside", False)


@contextmanager
def _linking_parts(codegen: Any) -> Iterator[Any]:
    """Make every function that is compiled inside the block a part, those of numba itself too.

    The caller holds numba's lock of the compiler. Compiling makes millions of objects that stay:
    collecting garbage among them again and again would only take time.
    """
    collecting = gc.isenabled()
    gc.disable()
    codegen.create_library = lambda name, **_: _Part(codegen, name)
    _thread.inside = True
    try:
        yield codegen
    finally:
        _thread.inside = False
        del codegen.create_library
        if collecting:
            gc.enable()


_TESTED = ((0, 61), (0, 68))  # versions of numba

AVAILABLE = False
try:
    from numba.core import dispatcher
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler, CompileResult

    class _NoEngine:
        """The code generator as a part sees it: without the engine that runs machine code."""

        def __init__(self, codegen: Any) -> None:
            self._codegen = codegen

        def __getattr__(self, name: str) -> Any:
            return getattr(self._codegen, name)

        def set_env(self, name: str, env: Any) -> None: ...

    class _Part(JITCodeLibrary):
        """Intermediate code that is only ever linked into other libraries."""

        @property
        def codegen(self) -> Any:
            return _NoEngine(self._codegen)

        def get_pointer_to_function(self, name: str) -> int:
            self._ensure_finalized()
            return 0

        def _optimize_final_module(self) -> None: ...

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._finalized = True

    class _WholePipeline(Compiler):
        """numba's way of compiling, into a library that becomes machine code."""

        library_class: Any = JITCodeLibrary

        def define_pipelines(self) -> Any:
            library = self.library_class(
                self.state.targetctx.codegen(), self.state.func_id.func_qualname
            )
            library.enable_object_caching()
            self.state.library = library
            return super().define_pipelines()

    class _NeighboursLibrary(JITCodeLibrary):
        """A library in which operations on neighbours become vectors."""

        def _optimize_final_module(self) -> None:
            # numba reads the setting here, under its lock of the compiler.
            before = getattr(_config, _NEIGHBOURS, 0)
            setattr(_config, _NEIGHBOURS, 1)
            try:
                super()._optimize_final_module()
            finally:
                setattr(_config, _NEIGHBOURS, before)

    class _NeighboursPipeline(_WholePipeline):
        """The same, into such a library."""

        library_class = _NeighboursLibrary

    _needed: dict[Any, tuple[str, ...]] = {
        JITCodeLibrary: (
            "_ensure_finalized",
            "_finalize_dynamic_globals",
            "_finalize_final_module",
            "_optimize_final_module",
        ),
        Compiler: ("define_pipelines",),
        CompileResult: ("_find_referenced_environments",),
        dispatcher.Dispatcher: ("compile", "get_call_template", "get_overload"),
        getattr(dispatcher, "_FunctionCompiler"): ("compile",),  # noqa: B009
    }
    AVAILABLE = _TESTED[0] <= numba.version_info.short <= _TESTED[1] and all(
        hasattr(each, name) for each, names in _needed.items() for name in names
    )
except (ImportError, AttributeError):  # pragma: no cover
    pass
