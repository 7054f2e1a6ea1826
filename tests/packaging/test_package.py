"""The built package where nothing else is installed: the README's examples, each extra alone.

Run by ``make package``, not with the other tests: it fetches what the package needs.
"""

import os
import re
import shlex
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import distributions
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# Environments are made and filled, which takes as long as the network does.
pytestmark = pytest.mark.timeout(1800)

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PIP = ("-m", "pip", "--disable-pip-version-check", "install", "--quiet")
DOCTEST = """
import doctest, sys
flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
done = doctest.testfile(sys.argv[1], module_relative=False, optionflags=flags)
sys.exit(done.failed or not done.attempted)
"""
SITE = "import sysconfig; print(sysconfig.get_path('purelib'))"
ROWS = (
    "import numpy as np; X = np.random.default_rng(0).normal(size=(60, 3)); y = X[:, 0] + X[:, 1]"
)
# What an extra is for, without any other.
JOBS = {
    "": "from bottega.linear import Ridge; assert Ridge(alpha=0.1).fit(X, y).score(X, y) > 0.9",
    "data": "import bottega; assert bottega.read('houses.csv', target='price').X.shape == (90, 2)",
    "plot": "from bottega.linear import Ridge; Ridge().path(X, y).plot().save('path.svg')",
    "neural": """
from bottega.latent import PCA
from bottega.neural import NetworkRegressor
assert PCA(1, device="cpu").fit(X).solver_ == "torch (cpu)"
assert NetworkRegressor(random_state=0).fit(X, y).predict(X).shape == y.shape
""",
    "onnx": """
from bottega.neural import NetworkRegressor
NetworkRegressor(max_iter=2, random_state=0).fit(X, y).to_onnx("network.onnx")
""",
    "scale": """
from bottega.linear import LeastSquares
from bottega.scale import on

if __name__ == "__main__":
    here = LeastSquares().fit_chunks([(X[:30], y[:30]), (X[30:], y[30:])])
    with on("processes"):
        there = LeastSquares().fit_chunks([(X[:30], y[:30]), (X[30:], y[30:])])
    assert abs(here.coef_ - there.coef_).max() < 1e-12
""",
    "text": """
from bottega.text import StemMatrix, TextCleaner
stems = StemMatrix(TextCleaner("english")).fit(["walking home", "walked a dog", "home of dogs"])
assert stems.get_feature_names_out().tolist() == ["dog", "home", "walk"]
""",
    "optimize": """
from bottega.optimize import quadratic_program
found = quadratic_program(np.eye(2), [-1.0, -1.0], A_ub=[[1.0, 1.0]], b_ub=[1.0])
assert abs(found.x - 0.5).max() < 1e-8
""",
    "report": """
import bottega
found = bottega.compare(X, y, methods=["ridge"])
found.report("report.html")
found.save("model.skops")
assert len(bottega.load("model.skops").predict(found.train.X)) == 45
""",
    "cli": """
import subprocess, sys
command = [sys.executable, "-m", "bottega", "compare", "houses.csv", "--target", "price"]
command += ["--methods", "ridge"]
assert "ridge" in subprocess.run(command, check=True, capture_output=True, text=True).stdout
""",
}


def run(*command, **options):
    """Run a command; what it wrote is shown if it fails."""
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, f"{shlex.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def site_of(python):
    """Return the folder in which an environment has its packages."""
    return Path(run(python, "-c", SITE).strip())


def needed(site, extra):
    """Return what the package needs with one extra of what is installed, itself included."""
    there = {
        canonicalize_name(each.metadata["Name"]): each for each in distributions(path=[str(site)])
    }
    todo, seen = [("bottega", ""), ("bottega", extra)], set()
    while todo:
        name, wanted = one = todo.pop()
        if one in seen:
            continue
        seen.add(one)
        for requirement in map(Requirement, there[name].requires or ()):
            if requirement.marker is None or requirement.marker.evaluate({"extra": wanted}):
                other = canonicalize_name(requirement.name)
                todo += [(other, more) for more in ("", *requirement.extras)]
    return [there[name] for name in {name for name, _ in seen}]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The sdist, and the wheel made from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


@pytest.fixture(scope="module")
def whole(built, tmp_path_factory):
    """An environment with the wheel and every extra of users, as pip makes it."""
    folder = tmp_path_factory.mktemp("whole")
    run(sys.executable, "-m", "venv", folder)
    python = folder / "bin" / "python"
    run(python, *PIP, "-c", ROOT / "constraints.txt", f"{built[1]}[main,onnx,optimize,scale]")
    run(python, "-m", "pip", "check")
    return python


@pytest.fixture
def with_extra(whole, tmp_path):
    """Return a function that makes an environment of what one extra needs, and nothing else.

    Its packages are links to those of the whole environment: installing them again takes minutes.
    """

    def make(extra):
        run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "environment")
        python = tmp_path / "environment" / "bin" / "python"
        source, site = site_of(whole), site_of(python)
        for each in needed(source, extra):
            for name in {file.parts[0] for file in each.files} - {"..", "__pycache__"}:
                if not (site / name).exists():
                    (site / name).symlink_to(source / name)
        return python

    return make


@pytest.fixture
def desk(tmp_path):
    """A folder with the files that the README names, and settings that touch no one's files."""
    folder = tmp_path / "desk"
    folder.mkdir()
    rng = np.random.default_rng(0)
    size, age = rng.uniform(40, 200, 90), rng.uniform(0, 50, 90)
    price = 3 * size - age + rng.normal(0, 20, 90)
    rows = [f"{s:.1f},{a:.1f},{p:.1f}" for s, a, p in zip(size, age, price, strict=True)]
    (folder / "houses.csv").write_text("\n".join(["size,age,price", *rows]))
    (folder / "new.csv").write_text("house,size,age\n1,100,10\n2,60,40\n")
    outside = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
    kept = {name: value for name, value in os.environ.items() if name not in outside}
    return {"cwd": folder, "env": kept | {"BOTTEGA_LEDGER": "off"}}


def test_the_sdist_has_all_that_the_tests_need(built):
    with tarfile.open(built[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    listed = run("git", "ls-files", cwd=ROOT).split("\n")
    missing = [name for name in listed if name and name not in names and (ROOT / name).exists()]
    assert not missing
    assert not [name for name in names if name.startswith((".venv", "build/", "dist/"))]


def test_the_wheel_has_the_package_and_nothing_else(built):
    with zipfile.ZipFile(built[1]) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    files = (each for each in (ROOT / "src/bottega").rglob("*") if each.is_file())
    ours = (each.relative_to(ROOT / "src") for each in files if "__pycache__" not in each.parts)
    assert names == set(map(str, ours))


def test_python_example_of_the_readme(with_extra, desk):
    run(with_extra("main"), "-W", "error", "-c", DOCTEST, README, **desk)


def test_commands_of_the_readme(whole, desk):
    bottega = whole.with_name("bottega")
    commands = re.findall(r"^\$ bottega (.+)$", README.read_text(), flags=re.MULTILINE)
    assert len(commands) >= 2
    for command in commands:
        run(bottega, *shlex.split(command, comments=True), **desk)
    assert (desk["cwd"] / "predictions.csv").read_text().count("\n") >= 3
    assert "<html" in (desk["cwd"] / "report.html").read_text()


@pytest.mark.parametrize("extra", JOBS)
def test_each_extra_alone_does_its_job(with_extra, desk, extra):
    run(with_extra(extra), "-W", "error", "-c", f"{ROWS}\n{JOBS[extra]}", **desk)


def test_every_extra_of_users_has_a_job_here():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    ours = {"bench", "dev", "docs", "main", "test"}
    assert set(project["optional-dependencies"]) - ours == set(JOBS) - {""}
