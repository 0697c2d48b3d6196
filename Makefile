# The front door. Every target makes its own virtual environment first; only Python 3.11+, make and a package index are needed.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: demo test lint bench reproduce clean

demo: $(INSTALLED)
	$(BIN)/equinoise demo

test: $(INSTALLED)
	$(BIN)/python -m pytest

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

reproduce: $(INSTALLED)
	rm -rf build/reproduction
	mkdir -p build
	$(BIN)/equinoise reproduce --quick --out build/reproduction

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks.run

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
