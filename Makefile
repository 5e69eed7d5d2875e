# Everything a person or CI does with this checkout. `make help` lists the targets.
# Override on the command line: make serve PORT=8080 DATA=/srv/holdfast PYTHON=python3.12
# With PostgreSQL: make serve EXTRAS=postgres HOLDFAST_DATABASE_URL=postgresql://...

PYTHON ?= python3
VENV   ?= .venv
PORT   ?= 3000
HOST   ?= 127.0.0.1
DATA   ?= data
DEMO   ?= true
EXTRAS ?=
SECONDS ?= 120
TARGET ?= all
PACKAGE ?= holdfast.hosting.services
MODULE ?=
JOBS   ?= 2

BIN    := $(VENV)/bin
CLIENTS := $(VENV)-clients
COMPAT := tests/compat/clients
BROWSER := tests/browser
BUNDLES := src/holdfast/web/static/bundles/manifest.json
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
RUNTIME := $(VENV)/.runtime$(foreach extra,$(EXTRAS),-$(extra))
LOCKS  := $(foreach name,build runtime server $(EXTRAS),requirements/$(name).txt)
CORE   := $(shell sed -n 's/^ *"\(holdfast\.backup\.[a-z_.]*\)",*$$/\1/p' setup.py)
CORE_SOURCES := $(foreach module,$(CORE),src/$(subst .,/,$(module)).py) $(wildcard src/holdfast/backup/rules/*.py)
# Those that the build does not generate.
CORE_DECLARATIONS := $(wildcard $(filter %.pxd,$(shell git ls-files src/holdfast/backup)))
VERSION = $(shell sed -n 's/^version = "\(.*\)"$$/\1/p' pyproject.toml)
# The files of tests lie in memory where there are 8 GB for them: fsync costs nothing there, which is a third of the time.
MEMORY := $(shell test -w /dev/shm && df -Pk /dev/shm | awk 'NR == 2 && $$4 > 8000000 { print "/dev/shm" }')
TESTS  := $(if $(MEMORY),TMPDIR=$(MEMORY)) $(BIN)/python -m pytest
QUICK  := -n $(JOBS) --dist worksteal -m "not long and not postgres"

# Without its bytecode cache, pytest rewrites every assertion in every worker of every run: half a minute each.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help assets serve clients test test-fast mutation coverage test-postgres test-long test-properties schemathesis renovate bench fuzz differential lint format types imports docs docs-check schema lock site audit packages release changelog clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "  make %-12s %s\n", $$1, $$2 }'

# Each stamp stands for one finished step, so that the second run skips it.
$(RUNTIME): $(LOCKS)
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Holdfast needs Python 3.11 or later; set PYTHON=")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes $(foreach lock,$(LOCKS),-r $(lock))
	touch $@

# One compiled extension per compiled module, beside its source: a stale one would hide an edit, so edits rebuild.
$(VENV)/.package: $(RUNTIME) pyproject.toml setup.py $(CORE_SOURCES) $(CORE_DECLARATIONS)
	$(PIP) --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.package requirements/dev.txt
	$(PIP) --require-hashes -r requirements/dev.txt
	touch $@

# The clients other people wrote, each in the runtime it is made for. They are installed apart, so that what they need
# constrains nothing of ours; where npm or go is missing, their tests say so.
$(CLIENTS)/.python: requirements/clients.txt
	$(PYTHON) -m venv $(CLIENTS)
	$(CLIENTS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/clients.txt
	touch $@

$(COMPAT)/js/node_modules/.done: $(COMPAT)/js/package-lock.json
	@if command -v npm >/dev/null; then npm ci --silent --ignore-scripts --no-audit --no-fund --prefix $(COMPAT)/js && touch $@; \
	else echo 'no npm: the clients in JavaScript are not installed'; fi

$(BROWSER)/js/node_modules/.done: $(BROWSER)/js/package-lock.json
	@if command -v npm >/dev/null; then npm ci --silent --ignore-scripts --no-audit --no-fund --prefix $(BROWSER)/js && touch $@; \
	else echo 'no npm: axe, which the tests in a browser use, is not installed'; fi

# The editor, formulas and diagrams. Whoever has no npm, or no network the first time, gets pages that work without them.
$(BUNDLES): assets/package-lock.json assets/build.mjs $(wildcard assets/*.js)
	@if ! command -v npm >/dev/null; then echo 'no npm: the editor, formulas and diagrams are not built'; \
	elif ! npm ci --silent --ignore-scripts --no-audit --no-fund --prefix assets; then \
		echo 'npm cannot install the packages of assets/: the editor, formulas and diagrams are not built'; \
	else node assets/build.mjs; fi

assets: $(BUNDLES) ## build the editor, formulas and diagrams from the packages in assets/, where npm is

$(CLIENTS)/bin/go-client: $(CLIENTS)/.python $(wildcard $(COMPAT)/go/*)
	@if command -v go >/dev/null; then go build -C $(COMPAT)/go -o $(abspath $@) . && touch $@; \
	else echo 'no go: the client in Go is not built'; fi

# The S3 server the tests run: a gateway over a folder.
$(CLIENTS)/bin/versitygw: $(CLIENTS)/.python
	@if command -v go >/dev/null; then GOBIN=$(abspath $(CLIENTS)/bin) go install github.com/versity/versitygw/cmd/versitygw@v1.8.0 && touch $@; \
	else echo 'no go: the S3 server is not built'; fi

clients: $(CLIENTS)/.python $(COMPAT)/js/node_modules/.done $(BROWSER)/js/node_modules/.done $(CLIENTS)/bin/go-client $(CLIENTS)/bin/versitygw ## install the clients and servers other people wrote

serve: $(VENV)/.package $(BUNDLES) ## set everything up and run the service on http://localhost:3000
	HOLDFAST_PORT=$(PORT) HOLDFAST_HOST=$(HOST) HOLDFAST_DATA=$(DATA) HOLDFAST_DEMO=$(DEMO) $(BIN)/holdfast serve

test: $(VENV)/.dev clients $(BUNDLES) ## set everything up and run the tests
	$(TESTS) $(QUICK) $(PYTEST_ARGS)

# The layers that everything else is built on: the frame reader of backups, the HTTP layer, schemas, authorization,
# settings and logs; with a few examples of each property. It is for the minute between two edits.
FAST := $(wildcard tests/test_*.py) tests/backup/wire tests/backup/schema \
	tests/hosting/http tests/hosting/schemas tests/hosting/test_access.py

test-fast: $(VENV)/.dev ## run the tests of the lowest layers of both halves; less than a minute on two cores
	$(TESTS) $(QUICK) --hypothesis-profile=fast $(FAST) $(PYTEST_ARGS)

mutation: $(VENV)/.dev ## change a module in one place at a time, and see whether its tests notice (PACKAGE=, MODULE=)
	$(BIN)/python -m tools.mutation $(PACKAGE) $(if $(MODULE),--module $(MODULE)) $(MUTATION_ARGS)

# Counting which branches run nearly doubles the time, so it is a target of its own and CI runs `make test`.
coverage: $(VENV)/.dev clients $(BUNDLES) ## run the tests and report the branch coverage of both halves
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(QUICK) $(PYTEST_ARGS)
	$(BIN)/coverage combine --quiet
	@for half in backup hosting; do \
		printf 'coverage of %s: ' $$half; \
		$(BIN)/coverage report --include="*/holdfast/$$half/*" --format=total | sed 's/$$/%/'; \
	done
	@printf 'coverage of everything: '; $(BIN)/coverage report --format=total | sed 's/$$/%/'

test-postgres: $(VENV)/.dev clients ## run the tests that need PostgreSQL: those of both databases once more, and those of nodes
	$(TESTS) -n $(JOBS) --dist worksteal -m "postgres and not long" $(PYTEST_ARGS)

test-long: $(VENV)/.dev clients $(BUNDLES) ## run the tests that take long: browsers, processes that are killed, builds, loads
	$(TESTS) -n $(JOBS) --dist loadgroup --maxschedchunk 1 -m long $(PYTEST_ARGS)

test-properties: $(VENV)/.dev ## run the property tests on four times the examples
	$(TESTS) -n $(JOBS) --dist worksteal --hypothesis-profile=thorough \
		-m "hypothesis and not long and not postgres" $(PYTEST_ARGS)

schemathesis: $(VENV)/.dev ## send generated requests to a service of two processes (SECONDS=120)
	$(BIN)/python -m tests.compat.generated_requests $(SECONDS)

# It has hundreds of packages, so it is not among the clients that every run of the tests installs.
RENOVATE := renovate@39.264.1
$(CLIENTS)/renovate/.done:
	mkdir -p $(@D)
	npm install --silent --ignore-scripts --no-audit --no-fund --no-save --prefix $(@D) $(RENOVATE)
	touch $@

renovate: $(VENV)/.dev $(CLIENTS)/renovate/.done ## install Renovate, and let it merge an update of a dependency
	HOLDFAST_TEST_RENOVATE=$(abspath $(CLIENTS))/renovate/node_modules/renovate/dist/renovate.js \
		$(TESTS) tests/compat/clients/renovate_program.py $(PYTEST_ARGS)

bench: $(VENV)/.dev ## measure every promise of the README
	$(BIN)/python -m bench

# The fuzzer comes as a binary for some platforms only, so it has a lock of its own and no other target needs it.
$(VENV)/.fuzz: $(VENV)/.dev requirements/fuzz.txt
	$(PIP) --require-hashes -r requirements/fuzz.txt
	touch $@

fuzz: $(VENV)/.fuzz ## search for input that breaks what reads it (TARGET=reader, SECONDS=120 for each)
	$(BIN)/python -m fuzz --target $(TARGET) --seconds $(SECONDS)

differential: $(VENV)/.dev ## hold the core against protobuf on half a million damaged frames
	$(BIN)/python -m tests.backup.wire.differential 500000

lint: $(VENV)/.dev ## ruff, formatting, strict types, import rules
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(VENV)/.dev ## format the code (ruff)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: $(VENV)/.dev ## write the reference pages again from the code
	$(BIN)/python -m tools.reference

docs-check: $(VENV)/.dev ## fail when a reference page is stale or a link is dead, in the repository or in the site
	$(BIN)/python -m tools.reference --check
	$(BIN)/python -m tools.links
	$(BIN)/python -m tools.site build/site

site: $(VENV)/.dev ## build the documentation as a site in site/; view it with python3 -m http.server -d site
	$(BIN)/python -m tools.site

schema: $(VENV)/.dev ## generate the message classes from the .proto files
	$(BIN)/python -m tools.schema

lock: $(VENV)/.dev ## resolve the dependencies again and write requirements/ (versions and hashes)
	$(BIN)/python -m tools.lock

# The audit has an environment of its own, so that what it needs constrains nothing of ours.
$(VENV)-audit/.done: requirements/audit.txt
	$(PYTHON) -m venv $(VENV)-audit
	$(VENV)-audit/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	touch $@

audit: $(VENV)-audit/.done ## look the locked dependencies up in a database of vulnerabilities (over the network); fail if one could not be looked up
	$(VENV)-audit/bin/pip-audit --strict --disable-pip --require-hashes $(foreach name,runtime server postgres parquet dataset ray s3 keyring otel,-r requirements/$(name).txt)

packages: $(VENV)/.dev $(BUNDLES) ## build the sdist, the wheels of this machine, the list of components and the checksums into dist/
	rm -rf dist
	$(BIN)/python -m tools.components dist/holdfast-$(VERSION).cdx.json
	$(BIN)/python -m tools.distributions --into dist

release: packages ## build the distributions, and check version, changelog, tag and files (SIGN=an SSH key)
	$(BIN)/python -m tools.release --from dist $(if $(SIGN),--sign $(SIGN))

changelog: $(VENV)/.dev ## show the changelog the fragments would make
	$(BIN)/towncrier build --draft

clean: ## remove everything that was built (never the data folder)
	rm -rf site $(VENV) $(VENV)-audit $(CLIENTS) $(COMPAT)/js/node_modules $(BROWSER)/js/node_modules assets/node_modules $(dir $(BUNDLES)) build dist .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache .hypothesis src/*.egg-info
	find src tests bench tools -name '__pycache__' -type d -prune -exec rm -rf {} +
	find src -name '*.so' -delete
