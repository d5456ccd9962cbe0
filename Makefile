# Two commands do everything: `make demo` (the main use) and `make test`.
# They need Python 3.11 or newer, make, and a package index that pip can reach.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
HOME_DIR ?= demo-home
MATCHES ?= 8
# Processes that run tests, one more than processors, as some wait for browsers and servers; those
# that measure time ("alone") come after them, one by one.
TEST_WORKERS ?= $(shell $(PYTHON) -c 'import os; print(1 + (os.cpu_count() or 1))')

.PHONY: demo test lint docs setup setup-dev setup-rl lock clean

demo: setup
	$(BIN)/python -m arena.demo --home $(HOME_DIR) --matches $(MATCHES)

# Compiled once, whatever the environment says: else each process that a test starts does it anew.
test: export PYTHONDONTWRITEBYTECODE =
test: setup-dev
	$(BIN)/python -m pytest -m "not alone" -n $(TEST_WORKERS) --dist worksteal
	$(BIN)/python -m pytest -m alone

lint: setup-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# All of it anew each time: of a page that did not change, Sphinx would not repeat its warnings.
docs: setup-dev
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --fresh-env --quiet -j auto -d build/doctrees docs site

setup: $(VENV)/.run-ready
setup-dev: $(VENV)/.dev-ready
setup-rl: $(VENV)/.rl-ready

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run-ready: $(BIN)/python requirements.lock pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/.dev-ready: $(BIN)/python requirements-dev.lock pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(VENV)/.run-ready $@

# PyTorch, for training networks and for the tests of that; they are skipped without it.
$(VENV)/.rl-ready: $(VENV)/.dev-ready requirements-rl.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-rl.txt
	touch $@

# Pins every dependency with its hashes.  The lock names no index: pip uses the one it is set up for.
# Extras stay in it: of a package that another asks for with an extra, pip 23 (Python 3.11's own) would
# else look at the newest release first, and refuse it for want of a hash, from the day it comes out.
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	--no-annotate --no-strip-extras --no-emit-index-url --extra openai --extra oidc pyproject.toml

lock:
	$(LOCK) -o requirements.lock
	$(LOCK) --extra cluster -o requirements-cluster.lock
	$(LOCK) --group dev -o requirements-dev.lock

clean:
	rm -rf $(VENV) demo-home build site *.egg-info
