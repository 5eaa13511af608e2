# Each target sets up what it needs: a virtual environment in .venv, jars for the tests in .cache.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: run test lint bench bench-parts docs lock

# ARGS goes to the command: make run ARGS="--listen 127.0.0.1:9192"; ONESHOT=1 ends by itself.
run: $(READY)
	$(BIN)/snakka demo $(if $(ONESHOT),--once) $(ARGS)

test: $(READY)
	$(BIN)/pytest --numprocesses 2 --dist worksteal

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

# How long, and against whom: make bench ARGS="--peers kafka --rounds 5"; --help tells the rest.
bench: $(READY)
	$(BIN)/python -m bench.peers --json .cache/benchmarks.json $(ARGS)

# The parts by themselves: codec, records, storage, connections, fetch sessions.
bench-parts: $(READY)
	$(BIN)/python -m bench.codec
	$(BIN)/python -m bench.columns
	$(BIN)/python -m bench.storage
	$(BIN)/python -m bench.connections
	$(BIN)/python -m bench.fetch
	$(BIN)/python -m bench.metadata

docs: $(READY)
	$(BIN)/python docs/generate.py

# The lock is made anew from pyproject.toml only when somebody asks for it.
lock: $(READY)
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
		--custom-compile-command "make lock" --extra dev --output-file requirements/dev.txt pyproject.toml

$(READY): requirements/dev.txt pyproject.toml setup.py $(wildcard src/snakka/protocol/records/*.p[xy][xd])
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@
