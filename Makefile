# `make demo` and `make test` need nothing but Python 3.11 or newer: both set up .venv first.
# Another interpreter: `make test PYTHON=python3.12`.

PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/installed

.PHONY: help install demo test coverage lint format

help:
	@echo "make demo      train on a built-in language and show what augmentation does (3 minutes, no download)"
	@echo "make test      run the tests"
	@echo "make coverage  run the tests and report the lines they miss"
	@echo "make lint      check formatting, style and types"
	@echo "make format    format the code and mend what can be mended"

install: $(INSTALLED)

# The stamp is touched last, so an interrupted installation is taken up again.
$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(INSTALLED)
	$(BIN)/python train.py -m lang=artificial experiment=demo strategy=none,random,umt_loss size=512

# One torch thread per worker: two workers with all threads each would fight for the cores.
# loadscope keeps the tests of one module together, so that what its fixtures train is trained once.
test: $(INSTALLED)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadscope

coverage: $(INSTALLED)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadscope --cov

lint: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(INSTALLED)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
