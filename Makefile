# A fresh machine needs Python >= 3.11 (with venv) and make: `make demo`, `make test`, `make docs`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Installation stamps: reinstall only when the project's metadata changes. The demonstration needs the
# package alone, so that it starts soon.
MADE := $(VENV)/.made
PLAIN_STAMP := $(VENV)/.installed-plain
STAMP := $(VENV)/.installed
DOCS_STAMP := $(VENV)/.installed-docs

.PHONY: demo test lint unit checked docs coverage fuzz stress format bench clean

demo: $(PLAIN_STAMP)
	$(BIN)/sigmastar demo

# Linters first, then kernels with every index checked, beside the tests themselves.
test: $(STAMP)
	$(MAKE) --no-print-directory -j 2 lint unit checked

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Reports are tested in a real browser; the script installs one on Debian if it is missing, and where
# none can be had (code 3) those tests are left out.
TESTS = $$(sh tools/browser.sh >&2; case $$? in 0) echo tests ;; 3) echo tests --ignore=tests/browser ;; *) echo no-browser ;; esac)

unit: $(STAMP)
	$(BIN)/python -m pytest -n 2 --dist worksteal $(TESTS)

# The same kernels with every index checked: what leaves an array is an IndexError, not luck. These
# tests run nearly all kernels of every wing; they are little optimised, since most of the time they
# are being compiled.
KERNEL_TESTS = tests/test_processes.py::test_a_pickled_model_answers_the_same \
	tests/tagging/test_growing.py tests/tagging/test_hostile.py tests/ngrams \
	tests/tagging/test_fst.py::test_a_memory_that_grew_knows_its_states \
	tests/tagging/test_composed.py::test_a_small_memory_costs_time_and_no_tag \
	tests/automata/test_expected_counts.py tests/automata/test_scoring.py \
	tests/automata/test_merging.py tests/automata/test_gibbs.py tests/metrics/test_strings.py \
	tests/transducers/test_inference.py tests/transducers/test_log_linear.py \
	tests/transducers/test_reranker.py tests/sensors/test_model.py
checked: $(STAMP)
	SIGMASTAR_CHECKED_KERNELS=1 NUMBA_OPT=1 $(BIN)/python -m pytest $(KERNEL_TESTS)

# Builds site/, which works without a network and from the disk; any warning is an error.
docs: $(DOCS_STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "open site/index.html"

# Compiled kernels are invisible to coverage: a second run has them as plain Python. Commands, services,
# clusters and fuzzers run none that the tests of the rooms do not run.
ROOMS = automata transducers tagging sensors ngrams corpus core metrics show datasets
coverage: $(STAMP)
	$(BIN)/coverage erase
	COVERAGE_FILE=.coverage.compiled $(BIN)/python -m pytest -n 2 --dist worksteal \
		--cov --cov-report= $(TESTS)
	COVERAGE_FILE=.coverage.plain NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 \
		--dist worksteal --cov --cov-report= $(addprefix tests/,$(ROOMS))
	$(BIN)/coverage combine
	$(BIN)/coverage report --skip-covered --fail-under=90

# Hostile model files and hostile text: nothing but our own exceptions may come out. The files that
# showed something else are kept in fuzz/. (tools/fuzz/atheris_readers.py goes on where these end.)
fuzz: $(STAMP)
	$(BIN)/python tools/fuzz/run.py --mutants 100000 --jobs 2 --strict --keep fuzz/models
	SIGMASTAR_CHECKED_KERNELS=1 $(BIN)/python tools/fuzz/run.py --mutants 20000 --seed 100000 \
		--jobs 2 --keep fuzz/checked
	$(BIN)/python tools/fuzz/readers.py --inputs 1000000 --jobs 2 --keep fuzz/readers

# Many threads on one model of every kind (ten minutes, and ten more with threads that change all the
# time), processes killed while they write, and disks that are full.
stress: $(STAMP)
	$(BIN)/python tools/stress/kills.py --kills 300
	$(BIN)/python tools/stress/full_disk.py
	$(BIN)/python tools/stress/stop_service.py --stops 30
	$(BIN)/python tools/stress/threads.py --threads 8 --minutes 10
	$(BIN)/python tools/stress/threads.py --threads 8 --minutes 10 --switch 1e-6

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)
	$(BIN)/python benchmarks/corpus.py
	$(BIN)/python benchmarks/scoring.py

$(MADE):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "sigmastar needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $(MADE)

$(PLAIN_STAMP): pyproject.toml | $(MADE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $(PLAIN_STAMP)

$(STAMP): pyproject.toml | $(MADE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(PLAIN_STAMP) $(STAMP)

# The tests need none of this.
$(DOCS_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $(DOCS_STAMP)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .coverage* build dist site
