"""Where kernels stand and what they may import: a rule over the files, so new ones keep it too."""

import ast
from pathlib import Path

import pytest

import bottega

ROOT = Path(bottega.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
KERNEL_FILES = [file for file in FILES if "_kernels" in file.relative_to(ROOT).parts]
DECORATORS = {"kernel", "neighbours_kernel", "summing_kernel"}


def name(file):
    return str(file.relative_to(ROOT))


def imported(tree, file):
    """Every module that a file imports, by its full name, and the names taken from it."""
    parts = ("bottega", *file.relative_to(ROOT).with_suffix("").parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, set()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = parts[: -node.level] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield module, {alias.name for alias in node.names}


@pytest.mark.parametrize("file", KERNEL_FILES, ids=name)
def test_kernels_know_arrays_only(file):
    for module, _ in imported(ast.parse(file.read_bytes()), file):
        package = module.partition(".")[0]
        if package == "bottega":
            assert module == "bottega._jit" or "_kernels" in module.split("."), module
        else:
            assert package in {"numpy", "math", "typing"}, module


def test_kernels_stand_in_kernel_folders():
    assert KERNEL_FILES
    elsewhere = [
        name(file)
        for file in FILES
        if file not in KERNEL_FILES and "_jit" not in file.relative_to(ROOT).parts
        for module, names in imported(ast.parse(file.read_bytes()), file)
        if (module == "bottega._jit" and names & DECORATORS)
        or (module == "bottega" and "_jit" in names)
        or module.partition(".")[0] == "numba"
    ]
    assert not elsewhere
