# Two commands are all a newcomer needs: make demo, make test. Both install what is missing and say so.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
export VENV PYTHON

.PHONY: help demo test judges check bench bench-peers soak conformance schemas docs setup clean

help:
	@echo "make demo      drive a page in a real browser through MCP and write out/demo/index.html"
	@echo "make test      run all tests (installs what is missing), files side by side; PYTEST_ARGS, WORKERS=0 for one process"
	@echo "make judges    only the judges by others: official MCP conformance suite, Inspector, TDQS (fetched into out/judges)"
	@echo "make check     ruff, mypy --strict, import-linter"
	@echo "make conformance BACKEND=web   judge a backend as a vendor would; leaves out/conformance/index.html"
	@echo "                 BACKEND=android CONFORMANCE_ARGS=--lab: on simulated devices behind the real adb server"
	@echo "make bench     measure against a bare SDK server in the same run"
	@echo "make bench-peers   the same tasks by agent-device (from npm) and by ours, on one lab device"
	@echo "make soak      prove ownership under fire (about 10 minutes; rewrites its section of docs/verified.md), then what"
	@echo "               the tests prove by number, in full sizes"
	@echo "make schemas   export the JSON Schemas and the generated reference"

setup:
	@tools/setup.sh dev browser desktop

demo:
	@tools/setup.sh demo browser
	@$(BIN)/python demo/run.py

# Most of the time tests wait, so more of them than there are cores; WORKERS=0 runs all in one process.
WORKERS ?= 4
test: setup
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS)

judges: setup
	@$(BIN)/python -m pytest -rs tests/mcp/test_judges.py $(PYTEST_ARGS)

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: setup
	@$(BIN)/python bench/run.py

bench-peers: setup
	@$(BIN)/python bench/peers.py

# Beside the soak itself: the tests that prove by number, in full sizes (tests/README.md).
SIZED = $(shell grep -rlE "support.sizes|^from hypothesis" tests --include='test_*.py')
soak: setup
	@$(BIN)/python -m soak --write docs/verified.md $(SOAK_ARGS)
	@ANYDEVICE_SIZES=full $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile -o timeout=3600 $(SIZED)

BACKEND ?= web
conformance: setup
	@$(BIN)/anydevice conformance $(BACKEND) $(CONFORMANCE_ARGS) --report out/conformance

schemas docs: setup
	@$(BIN)/python tools/export.py

clean:
	rm -rf $(VENV) out .mypy_cache .ruff_cache .pytest_cache .hypothesis
