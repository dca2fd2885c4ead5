# `make demo` and `make test` need Python 3.11+ and make, nothing else.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test lint format bench clean

demo: .venv/core
	$(BIN)/carat demo

test: lint
	$(BIN)/python -m pytest

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
	rm -rf .venv carat-demo
