# make run: a server with sample data, on port 8080 or PORT=….  make test: lint, types, all tests.  make check: the fast part of that.
PYTHON ?= python3
DATA ?= data

.PHONY: run test check conformance clients slow clean

# Whoever tries the server out looks at its pages, too; it listens for this machine alone.
run: export DIRECTORY_SERVER_WEB__SEARCH ?= public
ifdef PORT
run: export DIRECTORY_SERVER_LISTEN = tcp:$(PORT):interface=127.0.0.1
endif
run: .venv/run
	@.venv/bin/directory-server --data-dir $(DATA) quickstart --check-ports
	@exec .venv/bin/twistd --nodaemon --pidfile= directory --data-dir $(DATA)

test: .venv/dev
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/pytest

check: .venv/dev
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/pytest -q -m 'not process'

# The official conformance suite of MCP, both wires; needs npm.
conformance: .venv/run
	tests/conformance/run

# The TypeScript SDK against a running server of its own; needs npm.
clients: .venv/run
	tests/typescript/run

# Slow and endless requests, ours and slowhttptest's where that is installed, while somebody searches: two minutes.
slow: .venv/run
	.venv/bin/python -m bench.attacks

clean:
	rm -rf .venv build dist *.egg-info .conformance .mypy_cache .ruff_cache .pytest_cache .hypothesis

.venv/run: setup.py pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=…")'
	@test -x .venv/bin/python || $(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --editable .
	@# Twisted caches what plugins there are; where the package is installed for all users, only now it may write that.
	@.venv/bin/twistd --help > /dev/null
	@touch $@

.venv/dev: .venv/run
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@
