"""The code of the guides and of the README calls what there is, by its right words."""

import ast
import importlib
import inspect
import re
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs/index.rst", *sorted((ROOT / "docs/guide").glob("*.rst"))]


def code_of(page):
    """Return the Python of a page: its code blocks, and its examples without what they print."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    blocks += re.findall(r"code-block:: python\n\n((?:   .*\n|\n)+)", text)
    blocks += ["\n".join(re.findall(r"^(?:>>>|\.\.\.) ?(.*)$", text, re.MULTILINE))]
    for block in blocks:
        if re.search(r"^>>> ", block, re.MULTILINE):
            block = "\n".join(re.findall(r"^(?:>>>|\.\.\.) ?(.*)$", block, re.MULTILINE))
        yield ast.parse(textwrap.dedent(block))


def names_of(tree):
    """Return what a block imports from the package, by name."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bottega"):
            module = importlib.import_module(node.module)
            for alias in node.names:
                if not hasattr(module, alias.name):  # a module of its own
                    importlib.import_module(f"{node.module}.{alias.name}")
                found[alias.asname or alias.name] = getattr(module, alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("bottega"):
                    importlib.import_module(alias.name)
                    found[alias.asname or "bottega"] = importlib.import_module(
                        alias.name if alias.asname else "bottega"
                    )
    return found


def resolved(node, names):
    """Return the object of the package that an expression names, or None."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = resolved(node.value, names)
        if owner is None:
            return None
        assert hasattr(owner, node.attr), f"{owner} has no {node.attr}"
        return getattr(owner, node.attr)
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_calls_use_parameters_that_exist(page):
    names, checked = {}, 0
    for tree in code_of(page):
        names |= names_of(tree)
        for node in ast.walk(tree):
            called = resolved(node.func, names) if isinstance(node, ast.Call) else None
            if not callable(called):
                continue
            known = inspect.signature(called).parameters
            if any(each.kind is each.VAR_KEYWORD for each in known.values()):
                continue
            unknown = [each.arg for each in node.keywords if each.arg and each.arg not in known]
            # The page for newcomers shows what a wrong word says.
            if unknown != ["lambda_"]:
                assert not unknown, f"{ast.unparse(node)}: {called.__name__} has {list(known)}"
            checked += 1
    assert checked > 0 or page.name == "comparison.rst"  # which has no code
