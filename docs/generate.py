"""Write everything that follows from the code: tables of methods, API page, syllabus, exports.

``python docs/generate.py`` brings these up to date, and a test says when they are not:

- the table of methods in README.md;
- docs/api.rst;
- the table of methods in docs/syllabus.rst, between its markers;
- docs/course.rst (see course_table.py);
- imports and ``__all__`` in the ``__init__.py`` of the topics (those that have the mark `EXPORTS`).

Sphinx writes docs/methods.rst, the page of cards, by `methods_page` in each build.
"""

import ast
import importlib
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import course_table

import bottega
from bottega.core.cards import CAPABILITIES
from bottega.registry import estimators, public_name

DOCS = Path(__file__).parent
ROOT = DOCS.parent
PACKAGE = ROOT / "src/bottega"

README_MARKS = "<!-- methods: start -->", "<!-- methods: end -->"
SYLLABUS_MARKS = ".. methods: start", ".. methods: end"
EXPORTS = "# made by docs/generate.py"

FRONT_DOOR = (
    *("compare", "Comparison", "read", "Table", "load", "catalogue", "cards"),
    *("Path", "Certificate"),
)
# Subpackages whose names are reached by the front door.
BEHIND_THE_DOOR = ("cli", "report", "workbench")
# Modules that are used as such.
MODULES = {
    "classify": ("hyperplane",),
    "core": ("params", "losses", "errors", "progress"),
    "data": ("make", "ledger"),
}


# ---- tables of methods ---------------------------------------------------------------------------


def methods_table() -> str:
    """Return the README's table: one row per method, its classes by task."""
    lines = [
        "| method | regression | classification | other tasks | knob | offers |",
        "|---|---|---|---|---|---|",
    ]
    by_method: dict[str, dict[str, type]] = {}
    for each in estimators():
        by_method.setdefault(each.card.method, {})[each.card.task] = each
    for method, classes in by_method.items():
        cards = [each.card for each in classes.values()]
        shown = {task: f"`{_short(each)}`" for task, each in classes.items()}
        columns = [shown.pop(task, "") for task in ("regression", "classification")]
        columns.append(", ".join(f"{name} ({task})" for task, name in shown.items()))
        offers = [
            name.replace("_", " ")
            for name in CAPABILITIES
            if any(getattr(card, name) for card in cards)
        ]
        knob = f"`{cards[0].knob}`" if cards[0].knob else ""
        lines.append(f"| {method} | {' | '.join(columns)} | {knob} | {', '.join(offers)} |")
    return "\n".join(lines)


def syllabus_table() -> str:
    """Return the syllabus' table of methods, from the items of the notes that cards name."""
    lines = course_table.table("40 20 40", "Method", "Items", "Class")
    for each in estimators():
        lines += course_table.row(
            f"{each.card.title} ({each.card.task})", each.card.source, f":class:`{_full(each)}`"
        )
    return "\n".join(lines)


def methods_page() -> str:
    """Return the documentation's page of cards."""
    lines = ["Methods", "=======", "", "Made from the cards of the catalogue.", ""]
    for each in estimators():
        card = each.card
        title = f"{card.title} ({card.task})"
        knob = f"``{card.knob}``" if card.knob else "none"
        lines += [title, "-" * len(title), ""]
        lines.append(
            f":class:`{_full(each)}`; knob: {knob}; takes: {', '.join(sorted(card.takes))}; cost "
            f"of a fit with its path: ``{card.cost}``; notes: {card.source}."
        )
        offers = [words for field, words in CAPABILITIES.items() if getattr(card, field)]
        lines += ["", "It " + "; ".join(offers) + "."] if offers else []
        for heading in ("strengths", "weaknesses", "assumptions"):
            sentences = getattr(card, heading)
            if sentences:
                lines += ["", heading.capitalize(), ""]
                lines += [f"- {sentence}" for sentence in sentences]
        lines.append("")
    return "\n".join(lines)


def _full(each: type) -> str:
    return public_name(each)


def _short(each: type) -> str:
    return public_name(each).removeprefix("bottega.")


# ---- the API page --------------------------------------------------------------------------------


def api_page() -> str:
    """Return the API page: the front door, then every subpackage with what it exports."""
    lines = ["API", "===", ""]
    lines += _section("The front door", "", [f"bottega.{name}" for name in FRONT_DOOR])
    for folder in sorted(PACKAGE.iterdir()):
        name = folder.name
        if name.startswith("_") or name in BEHIND_THE_DOOR or not (folder / "__init__.py").exists():
            continue
        package = importlib.import_module(f"bottega.{name}")
        names = [
            f"bottega.{name}.{each}" for each in package.__all__ if _is_shown(package, each, name)
        ]
        names += [f"bottega.{name}.{module}" for module in MODULES.get(name, ())]
        if names:
            about = inspect.getdoc(package).split("\n\n")[0].replace("\n", " ")
            if name == "course":
                about += " The functions themselves are listed in :doc:`course`."
            lines += _section(f"bottega.{name}", about, sorted(names, key=str.lower))
    return "\n".join(lines).rstrip() + "\n"


def _is_shown(package: object, name: str, topic: str) -> bool:
    """Return True for what has a page; functions of the course have one for themselves."""
    value = getattr(package, name)
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return False
    if any(value is getattr(bottega, front) for front in FRONT_DOOR):
        return False
    return topic != "course" or value.__module__ == "bottega.course.experiment"


def _section(title: str, about: str, names: list[str]) -> list[str]:
    lines = [title, "-" * len(title), ""]
    lines += [about, ""] if about else []
    lines += [".. autosummary::", "   :toctree: api", "   :nosignatures:", ""]
    return [*lines, *(f"   {name}" for name in names), ""]


# ---- exports -------------------------------------------------------------------------------------


def inits() -> Iterator[Path]:
    """Yield the ``__init__.py`` of the topics whose exports are made here."""
    for file in sorted(PACKAGE.glob("*/__init__.py")):
        if EXPORTS in file.read_text():
            yield file


def init_text(file: Path) -> str:
    """Return an ``__init__.py`` that exports ``__all__`` of each public module beside it.

    What it imports from elsewhere stays. A module that it imports as such (``import
    bottega.tree.rules as rules``) is exported as such, instead of its names.
    """
    text, package = file.read_text(), f"bottega.{file.parent.name}"
    statements = ast.parse(text).body
    imports = [each for each in statements if isinstance(each, ast.Import | ast.ImportFrom)]
    modules = {_stem(module): module for module in _public_modules(file.parent)}
    made = {f"{package}.{stem}" for stem in modules}
    kept = [each for each in imports if isinstance(each, ast.Import) or each.module not in made]
    lines = [ast.unparse(each) for each in kept]
    names = [alias.asname or alias.name for each in kept for alias in each.names]
    for stem, module in modules.items():
        found = [] if stem in names else _names_in(module)
        if found:
            lines.append(f"from {package}.{stem} import {', '.join(found)}")
            names += found
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise SystemExit(f"{package} exports {', '.join(twice)} from two modules.")
    docstring = "\n".join(text.splitlines()[: statements[0].end_lineno])
    body = ["", *lines, "", f"__all__ = [  {EXPORTS}", *(f"    {n!r}," for n in names), "]", ""]
    return _formatted(docstring + "\n".join(["", *body]), PACKAGE / file.parent.name / file.name)


def _stem(module: Path) -> str:
    return module.parent.name if module.name == "__init__.py" else module.stem


def _public_modules(folder: Path) -> list[Path]:
    modules = [
        place / "__init__.py" if place.is_dir() else place
        for place in folder.iterdir()
        if not place.name.startswith("_") and (place.suffix == ".py" or place.is_dir())
    ]
    return sorted(module for module in modules if module.exists())


def _names_in(module: Path) -> list[str]:
    """Return ``__all__`` of a module, read without importing it."""
    for statement in ast.parse(module.read_text()).body:
        if isinstance(statement, ast.Assign) and "__all__" in map(ast.unparse, statement.targets):
            return list(ast.literal_eval(statement.value))
    return []


def _formatted(text: str, file: Path) -> str:
    """Sort and lay out imports as `make format` would, so that both agree."""
    ruff = [sys.executable, "-m", "ruff"]
    for order in (["check", "--fix", "--quiet"], ["format", "--quiet"]):
        done = subprocess.run(
            [*ruff, *order, "--stdin-filename", str(file), "-"],
            input=text, capture_output=True, text=True, check=True, cwd=ROOT,
        )  # fmt: skip
        text = done.stdout
    return text


# ---- writing -------------------------------------------------------------------------------------


def between(file: Path, marks: tuple[str, str], content: str) -> str:
    """Return the text of a file with other content between two markers."""
    before, rest = file.read_text().split(marks[0])
    after = rest.split(marks[1])[1]
    return f"{before}{marks[0]}\n{content}\n{marks[1]}{after}"


def documents() -> Iterator[tuple[Path, str]]:
    """Yield each file that is generated, and what should stand in it."""
    for file in inits():
        yield file, init_text(file)
    readme, syllabus = ROOT / "README.md", DOCS / "syllabus.rst"
    yield readme, between(readme, README_MARKS, methods_table())
    yield syllabus, between(syllabus, SYLLABUS_MARKS, f"\n{syllabus_table()}\n")
    yield DOCS / "api.rst", api_page()
    yield course_table.PAGE, course_table.page()


def outdated() -> list[str]:
    """Return the names of the generated files that are not up to date."""
    return [str(file.relative_to(ROOT)) for file, text in documents() if file.read_text() != text]


if __name__ == "__main__":
    print(f"bottega {bottega.__version__}")
    for path, content in documents():
        if path.read_text() != content:
            path.write_text(content)
            print(f"written: {path.relative_to(ROOT)}")
