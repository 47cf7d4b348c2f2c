# Every command makes its own environment first; the stamp lets the next one start at once.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.installed
DEMO_READY := .venv/.demo
LOWEST := .venv-lowest
PAPER := .venv-paper
WORKERS ?= 2

# Linear algebra threads of parallel test workers would fight over the same cores; idle workers take tests from busy ones.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
PYTEST := -m pytest -n $(WORKERS) --dist worksteal

# Where a library's version shows: what it is called by, and what it is given. The mathematics is tested by `make test`.
LOWEST_ROOMS := $(addprefix tests/,conformance datasets tables interpretation plotting preprocessing anndata \
  cli/test_start.py cli/test_fit.py cli/test_model_file.py cli/test_predict.py \
  estimators/test_columns.py estimators/test_ecosystem.py estimators/test_inputs.py estimators/test_rows.py \
  samples/test_array_api.py spectrum/test_rows.py report/test_writing.py distributed/test_partitions.py \
  test_deprecated.py test_distribution.py test_extras.py test_package.py)

# Text that people read. The words to avoid are in tools/words.txt.
PROSE := README.md CONTRIBUTING.md CHANGELOG.md docs/*.md src tests examples

MADE_PAGES := $(addprefix docs/,api/examples api/generated gallery tutorials)

# Tests start hundreds of processes: each that finds its modules compiled saves half a second.
test test-all test-lowest coverage docs: export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-lowest test-sdist coverage lint types public-types dist docs paper bench reproduce clean

help: ## list these commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1	\2/p' $(MAKEFILE_LIST)

demo: $(DEMO_READY) ## genes of T cells, CD4 and CD8, from table to factors, verdict, certificate and a page: superfactor-demo/
	$(BIN)/superfactor demo

test: $(READY) ## the tests but the slow ones; ARGS="-k lpgd" is passed on to pytest
	$(ONE_THREAD) $(BIN)/python $(PYTEST) -m "not slow" $(ARGS)

test-all: $(READY) ## all tests, also what is long: the wheel in a clean environment, a browser at four sizes, lost workers
	$(ONE_THREAD) $(BIN)/python $(PYTEST) $(ARGS)

test-lowest: $(LOWEST)/.installed ## the rooms where versions matter, with the oldest libraries that pyproject.toml allows
	$(ONE_THREAD) $(LOWEST)/bin/python $(PYTEST) -m "not slow" $(or $(ARGS),$(LOWEST_ROOMS))

test-sdist: $(READY) ## build the package, unpack its sdist and run tests from there
	$(ONE_THREAD) bash tools/test_sdist.sh $(ARGS)

# A part of the tests is no measure of all: with ARGS neither the limit nor the picture counts.
coverage: $(READY) ## which lines the tests run: a table, htmlcov/index.html and the picture of the README
	$(ONE_THREAD) $(BIN)/python $(PYTEST) --cov --cov-report=term:skip-covered --cov-report=html --cov-report=json $(if $(ARGS),--cov-fail-under=0 $(ARGS))
	$(if $(ARGS),,$(BIN)/python tools/coverage_badge.py)

lint: $(READY) ## style, formatting, the order of the layers, spelling and words to avoid
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/codespell --dictionary=- --dictionary=tools/words.txt $(PROSE)

types: $(READY) ## mypy, strict on src/ and reproduction/
	$(BIN)/mypy

public-types: ## the share of public names whose types users have, by pyright; fails below the one it names
	PYTHON="$(PYTHON)" bash tools/public_types.sh

dist: ## build wheel and sdist into dist/, check them and install each
	PYTHON="$(PYTHON)" bash tools/dist.sh

docs: .venv/.docs ## the site: build/docs/html/index.html; a warning is an error
	rm -rf build/docs $(MADE_PAGES)
	$(ONE_THREAD) $(BIN)/python -m sphinx -j $(WORKERS) -W --keep-going -q -d build/docs/doctrees docs build/docs/html

paper: $(PAPER)/.installed ## the short paper as docs/paper/paper.pdf
	$(PAPER)/bin/python tools/paper.py

bench: .venv/.bench ## side by side with the peers, in one run
	$(BIN)/python -m benchmarks $(ARGS)

reproduce: $(READY) ## a figure or table of the paper; ARGS="--list" names them
	$(BIN)/python -m reproduction $(ARGS)

clean: ## remove caches and builds; .venv stays
	rm -rf build dist $(MADE_PAGES) docs/paper/paper.pdf htmlcov .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests benchmarks reproduction -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

$(READY): pyproject.toml tools/setup.sh
	PYTHON="$(PYTHON)" bash tools/setup.sh dev
	@touch $(DEMO_READY) $@

# The demo needs a tenth of what development needs, and a newcomer starts with it.
$(DEMO_READY): pyproject.toml tools/setup.sh
	PYTHON="$(PYTHON)" bash tools/setup.sh demo
	@touch $@

.venv/.bench: $(READY)
	PYTHON="$(PYTHON)" bash tools/setup.sh bench
	@touch $@

$(LOWEST)/.installed: pyproject.toml tools/setup.sh
	PYTHON="$(PYTHON)" bash tools/setup.sh lowest
	@touch $@

$(PAPER)/.installed: pyproject.toml tools/setup.sh
	PYTHON="$(PYTHON)" bash tools/setup.sh paper || { echo "make paper needs pandoc and Typst: pip install pypandoc-binary typst"; exit 1; }
	@touch $@

.venv/.docs: $(READY)
	PYTHON="$(PYTHON)" bash tools/setup.sh docs
	@touch $@
