# `make demo`, `make test`, `make docs` and `make gallery` set themselves up: all they need is Python 3.11 or later with
# pip, and make.  The tests want a C++ compiler and Chromium besides, which are installed where they are missing and
# apt-get may do so.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test docs gallery compiler browser clean

demo: $(VENV)/installed
	$(BIN)/gradcon demo

test: $(VENV)/installed-dev compiler browser
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest

# The site, in site/.  (--quiet would make --strict deaf; the variable silences the theme's announcement.)
docs: $(VENV)/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "The documentation is in site/index.html."

# The pictures of the documentation, made again.
gallery: $(VENV)/installed
	$(BIN)/python docs/images/gallery.py
	$(BIN)/python docs/images/direction.py
	$(BIN)/python docs/images/make.py

# The tests compile the GPU's kernels for the host too.
compiler:
	@command -v g++ >/dev/null || command -v clang++ >/dev/null || \
		{ apt-get update -qq && apt-get install -y -qq g++; } || \
		echo "No C++ compiler could be installed: the tests of the CUDA kernels will be skipped."

# They open the page of `gradcon report` in a real browser.
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
