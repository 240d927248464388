# make demo      run the three jobs for real against a forge on this machine
# make test      the whole suite
# make check     formatting, lint, types, floors, and the manifests people copy
# make bench     speed, as ratios in one run
# make soak      long runs: memory and open files stay flat, calls within their bound
# make fuzz      inputs at random against each reader (SECONDS=60 for each)
# make mutation  which small changes to the deciding modules no test notices (25 of each, half an hour)
# make coverage  lines and branches that the tests reach
# make manifests what is generated: option tables, the script inside the components
# make goldens   what reports and documents look like, written anew: read the diff
# make pictures  the pictures of the documentation, taken anew (Chromium)
# Each sets itself up: it needs Python 3.11+, git and rsync; the rest goes into .venv and .tools
# (of demo, five packages into the user's cache).

PYTHON ?= python3
BIN := .venv/bin
PYTHON_CODE := scripts tests examples docs .ci
SECONDS ?= 60
PYTEST_ARGS ?= -n 2 --dist worksteal

.PHONY: demo test check bench soak fuzz mutation coverage manifests goldens pictures lock format clean

.venv/ready: requirements-dev.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements-dev.txt
	touch $@

.tools/ready: tests/tools/package.json tests/tools/package-lock.json .venv/ready
	$(BIN)/python tests/tools/install.py .tools
	touch $@

test: .venv/ready .tools/ready
	$(BIN)/python -m pytest $(PYTEST_ARGS)

demo:
	$(PYTHON) examples/demo.py

check: .venv/ready .tools/ready
	$(BIN)/ruff check -q $(PYTHON_CODE)
	$(BIN)/ruff format --check -q $(PYTHON_CODE)
	$(BIN)/mypy
	PYTHONPATH=scripts $(BIN)/lint-imports --no-logo
	PYTHONPATH=tests $(BIN)/python -m ci_programs.check

bench: .venv/ready
	@for bench in tests/bench/bench_*.py; do echo "== $$bench"; $(BIN)/python $$bench || exit 1; done

soak: .venv/ready
	@for soak in tests/soak/soak_*.py; do echo "== $$soak"; $(BIN)/python $$soak || exit 1; done

fuzz: .venv/ready
	@for fuzz in tests/fuzz/fuzz_*.py; do echo "== $$fuzz"; $(BIN)/python $$fuzz --seconds $(SECONDS) || exit 1; done

mutation: .venv/ready
	$(BIN)/python tests/mutation/mutate.py --most 25

# In this process: what tests start as users do (act, gitlab-ci-local) is not counted.
coverage: .venv/ready .tools/ready
	rm -f .coverage .coverage.*
	$(BIN)/python -m pytest $(PYTEST_ARGS) --cov --cov-report=term:skip-covered -m 'not tool'

manifests: .venv/ready
	$(BIN)/python tests/ci_programs/embedded_fetch.py
	PYTHONPATH=tests:scripts $(BIN)/python -m ci_programs.option_tables

goldens: .venv/ready
	GOLDEN=write $(BIN)/python -m pytest tests/failures/test_report_goldens.py tests/postmortem/test_pm_files.py -k golden

pictures: .venv/ready
	$(BIN)/python docs/pictures/make.py

format: .venv/ready
	$(BIN)/ruff check --fix-only -q $(PYTHON_CODE)
	$(BIN)/ruff format -q $(PYTHON_CODE)

# The hashed locks, for every platform at once.
lock: .venv/ready
	$(BIN)/uv pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url requirements.in -o requirements.txt
	$(BIN)/uv pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url requirements-dev.in -o requirements-dev.txt

clean:
	rm -rf .venv .tools out .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage*
