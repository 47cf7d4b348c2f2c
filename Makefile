# Every command makes its own environment first; the stamp lets the next one start at once.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.installed
WORKERS ?= 2

# Linear algebra threads of parallel test workers would fight over the same cores; idle workers take tests from busy ones.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

.DEFAULT_GOAL := help
.PHONY: help demo test lint types docs bench reproduce clean

help: ## list these commands
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1	\2/p' $(MAKEFILE_LIST)

demo: $(READY) ## genes of prostate tumours from table to factors, verdict, certificate and a page: superfactor-demo/
	$(BIN)/superfactor demo

test: $(READY) ## run the tests; ARGS="-k lpgd" is passed on to pytest
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

lint: $(READY) ## style, formatting and the order of the layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo

types: $(READY) ## mypy, strict on src/ and reproduction/
	$(BIN)/mypy

docs: .venv/.docs ## the site: build/docs/html/index.html; a warning is an error
	rm -rf build/docs docs/api/generated
	$(ONE_THREAD) $(BIN)/python -m sphinx -W --keep-going -q -d build/docs/doctrees docs build/docs/html

bench: .venv/.bench ## side by side with the peers, in one run
	$(BIN)/python -m benchmarks $(ARGS)

reproduce: $(READY) ## a figure or table of the paper; ARGS="--list" names them
	$(BIN)/python -m reproduction $(ARGS)

clean: ## remove caches and builds; .venv stays
	rm -rf build dist docs/api/generated .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests benchmarks reproduction -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

$(READY): pyproject.toml tools/setup.sh
	PYTHON="$(PYTHON)" bash tools/setup.sh dev
	@touch $@

.venv/.bench: $(READY)
	PYTHON="$(PYTHON)" bash tools/setup.sh dev,bench
	$(BIN)/python -m pip -qq install --no-deps "skmatter>=0.4"
	@touch $@

.venv/.docs: $(READY)
	PYTHON="$(PYTHON)" bash tools/setup.sh dev,docs
	@touch $@
