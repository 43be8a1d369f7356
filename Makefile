# make run        a server with sample data, on port 8080 or PORT=…
#                 UPSTREAM=official follows the official registry, UPSTREAM=URL another one
# make test       lint, types and all tests;  make check: the fast part
# make coverage   uncovered lines of the HTTP layer and the quota
# make lock       requirements.lock and requirements-build.lock from pyproject.toml
# make screenshots  docs/search-light.png and docs/search-dark.png
# make share      manual pages, shell completions and files of systemd in build/share and build/lib
# make release    sdist, wheel and bill of materials in dist/; the wheel is started in an environment of its own
PYTHON ?= python3
DATA ?= data
# More workers than the two processors of a small machine: tests of processes wait most of their time.
WORKERS ?= --workers=4

# Tests create thousands of short-lived files. In memory, that waits for no disk.
TMPDIR ?= $(shell [ -w /dev/shm ] && [ "$$(df -k /dev/shm | awk 'END { print $$4 }')" -gt 2000000 ] && echo /dev/shm || echo /tmp)

# A stopped make ends its own child only: without this, workers, servers and databases go on.
PYTEST = TMPDIR=$(TMPDIR) .venv/bin/python tests/contained.py .venv/bin/pytest

.PHONY: run test types tests check fast coverage lock release share screenshots conformance ard publisher clients slow clean

# The pages are public here: the server listens on loopback only.
run: export DIRECTORY_SERVER_WEB__SEARCH ?= public
ifdef PORT
run: export DIRECTORY_SERVER_LISTEN = tcp:$(PORT):interface=127.0.0.1
endif
ifdef UPSTREAM
run: export DIRECTORY_SERVER_UPSTREAM = $(UPSTREAM)
endif
run: .venv/run
	@.venv/bin/directory-server --data-dir $(DATA) quickstart --check-ports
	@exec .venv/bin/twistd --nodaemon --pidfile= directory --data-dir $(DATA)

# The type checker uses one processor for a minute or more: it runs beside the tests.
test: .venv/dev
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	@$(MAKE) --no-print-directory --jobs=2 types tests

types: .venv/dev
	.venv/bin/mypy

tests: .venv/dev
	$(PYTEST) $(WORKERS)

check: .venv/dev
	.venv/bin/ruff check .
	@$(MAKE) --no-print-directory --jobs=2 types fast

fast: .venv/dev
	$(PYTEST) -q $(WORKERS) -m 'not process and not slow'

coverage: .venv/dev
	.venv/bin/coverage erase
	.venv/bin/coverage run --branch --concurrency=greenlet,thread --source=directory_server -m pytest -q -m 'not process and not browser'
	.venv/bin/coverage report --show-missing --include='directory_server/http/*,directory_server/*/_quota*,directory_server/sqlite/_charge_group.py'

# Versions and hashes of all run-time dependencies, with TLS and PostgreSQL: pip install --require-hashes -r requirements.lock
# The other file has those of the tools that build the package in the image.
lock: compile = CUSTOM_COMPILE_COMMAND='make lock' .venv/bin/pip-compile --quiet --upgrade --generate-hashes \
    --strip-extras --no-emit-index-url --no-emit-find-links --no-emit-trusted-host
lock: .venv/dev
	$(compile) --extra cluster --extra tls --output-file requirements.lock pyproject.toml
	$(compile) --allow-unsafe --only-build-deps --build-deps-for wheel --output-file requirements-build.lock pyproject.toml

# The source distribution, the wheel, which is checked and started, and the bill of materials in dist/.
release: .venv/run
	$(call install,.[release])
	rm -rf build dist
	PATH="$(CURDIR)/.venv/bin:$$PATH" .venv/bin/python deploy/release.py dist

# Manual pages and completions, from the commands themselves. Install: cp -r build/share build/lib /usr/local/
share: .venv/run
	.venv/bin/python deploy/share.py build

# The screenshots of README.md, from a running server; needs Chromium.
screenshots: .venv/dev
	.venv/bin/python docs/screenshots.py

# The official MCP conformance suite, stateful and stateless; needs npm. CLUSTER=1: with two servers on PostgreSQL.
conformance: .venv/run
	CLUSTER=$(CLUSTER) tests/conformance/run

# The conformance tool of ARD against a server, as a registry and as a publisher: make ard TOOL=…/conformance-test
ard: .venv/run
	TOOL='$(TOOL)' tests/conformance/ard

# The official publisher against a server; its requests are compared with the recorded ones: make publisher TOOL=…
publisher: .venv/dev
	MCP_PUBLISHER='$(abspath $(TOOL))' $(PYTEST) -q tests/features/publishing/test_mcp_publisher.py

# The TypeScript SDK as a client of a server; needs npm. CLUSTER=1: with two servers on PostgreSQL.
clients: .venv/run
	CLUSTER=$(CLUSTER) tests/typescript/run

# Slow and endless requests (slowhttptest's too, if installed) beside searches: two minutes.
slow: .venv/run
	.venv/bin/python -m bench.attacks

clean:
	rm -rf .venv .coverage build dist *.egg-info .conformance .mypy_cache .ruff_cache .pytest_cache .hypothesis

# pip repeats its messages of a failure for each dependency, over minutes if the network is down.
define install
	@echo 'Installing the dependencies in .venv.'
	@begin=$$(date +%s); { PIP_RETRIES=$${PIP_RETRIES:-2} .venv/bin/python -m pip install --progress-bar=off \
	    --disable-pip-version-check --editable '$(1)' 2>&1; echo $$? > .venv/pip.status; } | tee .venv/pip.log \
	    | sed -un 's/^ *\(Downloading\|Using cached\) \([^- ]*\)-[^ ]*\.whl.*/  \2/p; s/^Installing collected packages.*/Unpacking them./p'; \
	[ "$$(cat .venv/pip.status)" = 0 ] && echo "Installed after $$(($$(date +%s) - begin)) seconds." || { \
	    if grep -q 'connection broken by' .venv/pip.log; \
	    then echo 'pip cannot reach the package index: check the network, PIP_INDEX_URL and https_proxy, and run make again.'; \
	    else echo 'pip cannot install the dependencies: see .venv/pip.log, and run make again.'; fi >&2; exit 1; }
endef

# A development environment runs the server, too: it is installed at once.
.venv/run .venv/dev: setup.py pyproject.toml $(wildcard docs/*.md docs/*.svg docs/decisions/*.md docs/render.py)
	@test -x .venv/bin/python || { $(PYTHON) -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' \
	    && $(PYTHON) -m venv .venv; } > /dev/null 2>&1 || { \
	    echo '$(PYTHON) is not Python 3.11 or later with venv: name one that is, as in make run PYTHON=python3.12.' >&2; exit 1; }
	$(call install,.$(if $(filter %/dev,$@),[dev]))
	@# Twisted caches its list of plugins. In a system-wide installation only this user may write the cache.
	@.venv/bin/twistd --help > /dev/null
	@touch .venv/run $@
