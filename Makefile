# make demo    run the three jobs for real against a forge on this machine
# make test    the whole suite
# make check   formatting, lint, types, floors, and the manifests people copy
# Each sets itself up: it needs Python 3.11+ and git; the rest goes into .venv and .tools.

PYTHON ?= python3
BIN := .venv/bin
PYTEST_ARGS ?= -n 2 --dist worksteal

.PHONY: demo test check lock format clean

.venv/ready: requirements-dev.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements-dev.txt
	touch $@

.tools/ready: tests/tools/package.json tests/tools/package-lock.json .venv/ready
	$(BIN)/python tests/tools/install.py .tools
	touch $@

test: .venv/ready .tools/ready
	$(BIN)/python -m pytest $(PYTEST_ARGS)

format: .venv/ready
	$(BIN)/ruff check --fix-only -q scripts tests
	$(BIN)/ruff format -q scripts tests

# The hashed locks, for every platform at once.
lock: .venv/ready
	$(BIN)/uv pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url requirements.in -o requirements.txt
	$(BIN)/uv pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url requirements-dev.in -o requirements-dev.txt

clean:
	rm -rf .venv .tools out .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
