# Everything a person does here is one of these targets; `make help` lists them.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := -m pip --disable-pip-version-check install --quiet
PIP := $(BIN)/python $(PIP_INSTALL) -c constraints.txt
PYTEST := $(BIN)/python -m pytest
# Two test processes; each keeps its linear algebra to one thread, and each file's tests together,
# since they share fitted models. Files come in the order of their names: the many small examples
# of the sources are last, so that both processes end at about the same time.
JOBS ?= 2
SPREAD = -n $(JOBS) --dist loadfile --no-loadscope-reorder
export OPENBLAS_NUM_THREADS ?= 1
# pytest rewrites the tests' assertions and keeps the outcome, unless it may write no bytecode.
export PYTHONDONTWRITEBYTECODE :=
# What pytest is given besides, as in  make test ARGS=tests/linear
ARGS ?=
PYTHONS := 3.11 3.12 3.13
MANIFEST := pyproject.toml constraints.txt
BUDGETS := tests/common/test_compile_budget.py

.PHONY: help setup run test kernels quick dropin bounds machines oldest pythons package lint format type bench docs reference clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(VENV)/main.stamp: $(MANIFEST)
	@echo "setting up $(VENV) for the main job"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) -e '.[main]'
	@touch $@

$(VENV)/dev.stamp: $(VENV)/main.stamp
	@echo "completing $(VENV) with every extra and the development tools"
	@$(PIP) -e '.[dev]'
	@touch $@

setup: $(VENV)/dev.stamp  ## make .venv with everything in it

run: $(VENV)/main.stamp  ## compare every method on the diabetes data: leaderboard and HTML report
	@mkdir -p build
	@$(BIN)/python -m bottega.cli compare diabetes --out build/report.html

test: setup  ## run all tests but the budgets of compile time (make kernels)
	$(PYTEST) $(SPREAD) --ignore=$(BUDGETS) $(ARGS)

kernels: setup  ## compile every kernel from nothing, and see that each keeps its budget of time
	$(PYTEST) $(BUDGETS)

quick: setup  ## run the tests of single methods, those under two seconds, without the examples of docstrings
	$(PYTEST) $(SPREAD) -o addopts="--strict-markers --strict-config --import-mode=importlib -ra" \
	    --ignore-glob='tests/reference/*.py' --ignore=tests/dropin --ignore=tests/packaging \
	    -m "not slow" $(or $(ARGS),tests)

dropin: setup  ## run scikit-learn's own tests with our classes in the place of theirs
	PYTHONPATH=tests/dropin $(PYTEST) -c tests/dropin/pytest.ini --rootdir=. -n $(JOBS) --pyargs \
	    $$(PYTHONPATH=tests/dropin $(BIN)/python -c "import swap; print(*swap.MODULES)")

bounds: setup  ## run the kernels with bounds checks on: hostile data, then the quick tests
	$(PYTEST) tests/common/test_bounds.py
	NUMBA_BOUNDSCHECK=1 $(PYTEST) $(SPREAD) -m "not slow" --ignore=tests/common $(ARGS)

machines: setup  ## run the numeric tests as other processors would
	$(BIN)/python tests/packaging/machines.py $(SPREAD) $(ARGS)

oldest:  ## run the tests with the oldest versions that pyproject.toml admits
	@mkdir -p build
	@test -x .venv-oldest/bin/python || $(PYTHON) -m venv .venv-oldest
	@.venv-oldest/bin/python tests/packaging/oldest.py >build/oldest.txt
	@.venv-oldest/bin/python $(PIP_INSTALL) -c build/oldest.txt -e '.[test]'
	@# What old versions of other packages warn of is not ours to mend.
	.venv-oldest/bin/python -m pytest $(SPREAD) -W default $(ARGS)

pythons: $(addprefix python-,$(PYTHONS))  ## run the quick tests with every version of Python that is here
python-%:
	@if ! python$* --version >/dev/null 2>&1; then echo "Python $* is not on this machine: not tested"; exit 0; fi; \
	set -e; test -x .venv-$*/bin/python || python$* -m venv .venv-$*; \
	.venv-$*/bin/python $(PIP_INSTALL) -c constraints.txt -e '.[test]'; \
	.venv-$*/bin/python -m pytest $(SPREAD) -m "not slow" $(ARGS)

package: setup  ## build wheel and sdist, install them in empty environments and run the README's examples
	$(PYTEST) -o addopts="--import-mode=importlib -ra" tests/packaging $(ARGS)

lint: setup  ## check format, lint rules and import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

format: setup  ## rewrite the code in the one format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

type: setup  ## check types (strict on bottega.core)
	$(BIN)/mypy

bench:  ## time every case against its peers and write benchmarks/RESULTS.md
	@test -x .venv-bench/bin/python || $(PYTHON) -m venv .venv-bench
	@.venv-bench/bin/python $(PIP_INSTALL) -c constraints.txt -e '.[bench]'
	@# pyGAM asks for an older SciPy than it needs.
	@.venv-bench/bin/python $(PIP_INSTALL) -c constraints.txt --no-deps pygam progressbar2 python-utils
	@# adelie needs numpy below 2, so it has an environment of its own.
	@test -x .venv-adelie/bin/python || $(PYTHON) -m venv .venv-adelie
	@.venv-adelie/bin/python $(PIP_INSTALL) -r benchmarks/peers/adelie.txt
	env -u OPENBLAS_NUM_THREADS .venv-bench/bin/python -m benchmarks

docs: setup  ## build the HTML documentation in build/docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs

reference: ## rerun the R scripts that made the reference numbers (needs R)
	@for script in tests/reference/*/*.R; do echo "$$script"; Rscript "$$script" || exit 1; done

clean:  ## remove what the other targets made here (kernels stay in the cache folder of the user)
	rm -rf build dist .venv .venv-* .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
