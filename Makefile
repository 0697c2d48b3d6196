# The front door. Every target makes its own virtual environment first; only Python 3.11+, make and a package index are needed.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
ENGINES := .venv/.engines
AIM := .venv/.aim
BROWSER := .venv/.browser
DOCS := .venv/.docs
POSTGRESQL := .venv/.postgresql
LOWEST := .venv-lowest

.PHONY: demo test test-lowest test-engines test-aim test-postgresql test-browser lint bench attack fuzz mutants mutants-tenth reproduce docs pictures clean

demo: $(INSTALLED)
	$(BIN)/equinoise demo

# Two tests at a time, each on one core: threads of linear algebra would only wait for each other.
test: export OPENBLAS_NUM_THREADS := 1
test: export OMP_NUM_THREADS := 1
test: $(INSTALLED)
	$(BIN)/python -m pytest

# Every command once, with the oldest versions that pyproject.toml allows, and on the newest Python at hand with the newest versions.
# A bound that turns out too low is raised.
test-lowest: $(LOWEST)/.installed
	for which in oldest newest; do NUMBA_CACHE_DIR=$(CURDIR)/$(LOWEST)/compiled-$$which \
		timeout --kill-after=30 1500 $(LOWEST)/$$which/bin/python -m pytest tests/smoke --confcutdir tests/smoke -p no:cacheprovider || exit 1; done

# Starts a Dask and a Spark cluster on loopback and ends them. Spark needs Java 17 or newer; where there is none, Debian's is installed.
test-engines: $(ENGINES)
	command -v java || { apt-get update && apt-get install --yes --no-install-recommends default-jre-headless; }
	timeout --kill-after=30 1500 $(BIN)/python -m pytest tests/engines -n 0 --durations=5

# OpenDP's AIM and MST, with their own extra, from noisy counts to rows.
test-aim: $(AIM)
	timeout --kill-after=30 900 $(BIN)/python -m pytest tests/aim -n 0 --durations=5

# One thread of linear algebra a process, as with the command itself.
test-browser: export OPENBLAS_NUM_THREADS := 1
test-browser: export OMP_NUM_THREADS := 1

# Drives the local page, reports and the documentation site in Debian's Chromium, which is installed where there is none; pictures are kept in build/screenshots.
test-browser: $(BROWSER)
	test -x /usr/bin/chromium || { apt-get update && apt-get install --yes --no-install-recommends chromium; }
	timeout --kill-after=30 1500 $(BIN)/python -m pytest tests/browser -n 0 --durations=5

# Starts a PostgreSQL server on a loopback port, with Debian's package where there is none, and ends it.
test-postgresql: $(POSTGRESQL)
	ls /usr/lib/postgresql/*/bin/initdb || { apt-get update && apt-get install --yes --no-install-recommends postgresql; }
	timeout --kill-after=30 1200 $(BIN)/python -m tests.helpers.postgresql_server $(BIN)/python -m pytest tests/books -n 0 --durations=5

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# A quick run of the paper's experiments.
reproduce: $(INSTALLED)
	rm -rf build/reproduction
	mkdir -p build
	$(BIN)/equinoise reproduce --quick --out build/reproduction

# Links are written as the plain repository has them. The site is in build/site. A warning is an error, and so is anything that a page would load from the network.
docs: $(DOCS)
	$(BIN)/python -m pytest tests/docs -n 0
	$(BIN)/python -m docs_build.assemble
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	$(BIN)/python -m docs_build.check build/site

# Draws docs/pictures again.
pictures: $(INSTALLED)
	$(BIN)/python -m benchmarks.pictures

# Tries to prove the promises broken, in some minutes, and writes benchmarks/attack.md. Fails if one is, or if what is planted is not caught.
attack: $(INSTALLED)
	$(BIN)/python -m benchmarks.attack

# Plants the bugs of mutants/*.toml in copies of the project, one at a time, and fails if the tests that should notice one do not.
mutants: $(INSTALLED)
	$(BIN)/python -m mutants

# A tenth of them, other ones for every commit.
mutants-tenth: $(INSTALLED)
	$(BIN)/python -m mutants --tenth

# Odd tables, damaged files, kills and hostile requests by chance, some four minutes; writes the table of docs/reliability.md.
# Fails if anything is lost. SEED=7 tries others.
fuzz: $(INSTALLED)
	$(BIN)/python -m fuzz $(if $(SEED),--seed $(SEED))

# Speed, memory and growth, with goals: see benchmarks/__init__.py.
bench: $(INSTALLED)
	$(BIN)/python -m benchmarks.run

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

$(LOWEST)/.installed: export UV_PYTHON_DOWNLOADS := never
$(LOWEST)/.installed: pyproject.toml
	rm -rf $(LOWEST)
	$(PYTHON) -m venv $(LOWEST)/uv
	$(LOWEST)/uv/bin/python -m pip install --quiet uv
	$(LOWEST)/uv/bin/uv venv --quiet --python $(PYTHON) $(LOWEST)/oldest
	$(LOWEST)/uv/bin/uv pip install --quiet --python $(LOWEST)/oldest --resolution lowest-direct --editable '.[smoke]'
	$(LOWEST)/uv/bin/uv venv --quiet --python $$($(PYTHON) tests/smoke/newest_python.py) $(LOWEST)/newest
	$(LOWEST)/uv/bin/uv pip install --quiet --python $(LOWEST)/newest --editable '.[smoke]'
	touch $@

$(ENGINES): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --editable '.[dev,engines]'
	touch $@

$(AIM): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --editable '.[dev,aim]'
	touch $@

$(BROWSER): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --editable '.[dev,browser,docs]'
	touch $@

$(POSTGRESQL): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --editable '.[dev,postgresql]'
	touch $@

$(DOCS): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --editable '.[dev,docs]'
	touch $@

clean:
	rm -rf .venv $(LOWEST) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
