#!/bin/sh
# Install the servers that bench.http compares with in .bench/: uvicorn with its C extensions, the MCP SDK.
set -eu
cd "$(dirname "$0")/../../.."
python=${PYTHON:-.venv/bin/python}
[ -x .bench/python/bin/python ] || "$python" -m venv .bench/python
.bench/python/bin/python -m pip install --quiet --disable-pip-version-check mcp starlette 'uvicorn[standard]'
