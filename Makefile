# Every target sets up what it needs: a fresh machine needs only make and Python 3.11 or newer.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test setup bench docs clean

demo: $(READY)  ## a simulated person teaches the tosser robot in the terminal; a picture is saved
	$(BIN)/prefero simulate tosser --out results/simulate.png

test: $(READY)  ## lint, types and every test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2

bench: $(READY)  ## speed and accuracy tables, one BLAS thread
	$(BIN)/python -m benchmarks

docs: $(READY) $(VENV)/.docs  ## the documentation as a web site, in site/
	$(BIN)/mkdocs build --strict

setup: $(READY)  ## the virtual environment with everything in it

$(READY): pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) was not found: install Python 3.11 or newer, or say 'make PYTHON=/path/to/python3'"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: Prefero needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) --version): say 'make PYTHON=/path/to/python3'"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "make: this Python cannot make virtual environments: install its venv package (Debian: apt-get install python3-venv)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[all]" --group dev
	@touch $@

$(VENV)/.docs: $(READY)
	$(BIN)/python -m pip install --quiet --group docs
	@touch $@

clean:
	rm -rf $(VENV) results site dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
