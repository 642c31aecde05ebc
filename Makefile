# Every target sets itself up in .venv; all it needs is make, and Python 3.11 or later with pip.  `make test` also uses
# a C++ compiler and Chromium, and tries to install them with apt-get where they are missing.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# The tests share the cores as processes, so each of them computes on one thread.  No result depends on that.  A file
# stays in one process, and files start in the order of their names, which has the longest ones (batch) in front.
WORKERS ?= auto
PYTEST := NUMBA_NUM_THREADS=1 $(BIN)/pytest --numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder

# The hunt for defects needs its own folder on the path; BLAS threads would only compete with the other process.
FUZZ := PYTHONPATH=tests NUMBA_NUM_THREADS=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m fuzz

.PHONY: demo check test fuzz lint docs gallery reproduction benchmark dist compiler browser clean

demo: $(VENV)/installed
	$(BIN)/gradcon demo

# The quick loop: everything but the tests that are marked as slow, or that need real scenes.
check: lint
	$(PYTEST) -m "not slow and not data"

test: lint compiler browser
	$(PYTEST)

# Mutated files and random command lines, see CONTRIBUTING.md: MINUTES or CASES, COMMANDS, SEED; REPEAT and CASE.
MINUTES ?= 10
CASES ?=
COMMANDS ?= 1000
SEED ?= 0
REPEAT ?=
CASE ?= 0
fuzz: $(VENV)/installed-dev
	$(FUZZ) $(if $(REPEAT),--repeat "$(REPEAT)" --case $(CASE),$(if $(CASES),--cases $(CASES),--minutes $(MINUTES)) \
		--commands $(COMMANDS) --table fuzz-table.md) --seed $(SEED)

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The site, in site/.  (--quiet would also silence --strict; the variable hides the theme's announcement.)
docs: $(VENV)/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "The documentation is in site/index.html."

# Draw the pictures of the documentation again.
gallery: $(VENV)/installed
	$(BIN)/python docs/images/gallery.py
	$(BIN)/python docs/images/direction.py
	$(BIN)/python docs/images/wrong_maps.py
	$(BIN)/python docs/images/make.py

# Make the page on the paper's evaluation.  RESULTS=FOLDER first takes over what `gradcon reproduce --out FOLDER` made.
RESULTS ?=
reproduction: $(VENV)/installed
	$(BIN)/python docs/reproduction.py $(RESULTS)

# Measure the ratios that benchmarks/history.json keeps, and add them as a row.  SCENE names a scene to measure on.
SCENE ?=
benchmark: $(VENV)/installed-dev
	@$(BIN)/gradcon bench --ratios --json $(if $(SCENE),--scene "$(SCENE)") | $(BIN)/python benchmarks/add_row.py

# The source distribution and the wheel, in dist/.
dist: $(VENV)/installed-dev
	$(BIN)/python -m build --no-isolation

# The tests also compile the CUDA kernels for the host.
compiler:
	@command -v g++ >/dev/null || command -v clang++ >/dev/null || \
		{ apt-get update -qq && apt-get install -y -qq g++; } || \
		echo "No C++ compiler could be installed: the tests of the CUDA kernels will be skipped."

# The tests open the page of `gradcon report` in a browser.
browser:
	@command -v chromedriver >/dev/null && command -v chromium >/dev/null || \
		{ apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium chromium-driver; } || \
		echo "No Chromium could be installed: the tests of the page in a browser will be skipped."

# Stamps: packages are installed again only when pyproject.toml has changed.
$(VENV)/installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e .
	@touch $@

$(VENV)/installed-dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e ".[dev]"
	@touch $(VENV)/installed $(VENV)/installed-docs $@

$(VENV)/installed-docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e ".[docs]"
	@touch $(VENV)/installed $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

clean:
	rm -rf $(VENV) demo site build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
