#!/bin/sh
# Install the servers that bench.http compares with in .bench/: FastMCP, uvicorn with its C extensions, TypeScript SDKs.
set -eu
cd "$(dirname "$0")/../../.."
python=${PYTHON:-.venv/bin/python}
[ -x .bench/python/bin/python ] || "$python" -m venv .bench/python
.bench/python/bin/python -m pip install --quiet --disable-pip-version-check mcp fastmcp starlette 'uvicorn[standard]'
if command -v npm > /dev/null; then
    npm install --prefix .bench --no-audit --no-fund --no-update-notifier --loglevel=error \
        @modelcontextprotocol/sdk@1 @modelcontextprotocol/server@2 @modelcontextprotocol/node@2
else
    echo "npm is not installed; the TypeScript SDKs are skipped" >&2
fi
