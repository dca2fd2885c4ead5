# `make demo` and `make test` need Python 3.11+ and make, nothing else.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test docs lint format bench clean

demo: .venv/core
	$(BIN)/carat demo

test: lint docs
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

# Into site/, to be opened from the disk or served from anywhere; a link that leads nowhere fails the build. Without
# --quiet: it would hide the warnings from --strict, too.
docs: .venv/dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Each prints its figures; docs/results.md keeps them.
bench: .venv/dev
	$(BIN)/python benchmarks/ingest.py
	$(BIN)/python benchmarks/detectors.py
	$(BIN)/python benchmarks/recourse.py

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "carat needs Python 3.11 or newer, set PYTHON=…")'
	$(PYTHON) -m venv .venv

.venv/core: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) --editable '.[report]'
	touch $@

.venv/dev: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) --editable '.[dev]'
	touch $@ .venv/core

clean:
	rm -rf .venv carat-demo site
