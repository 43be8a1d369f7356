"""Time the way of a newcomer: from a clone to the first answer in an editor.

    python -m bench.first_answer [--repository PATH_OR_URL] [--port N]

performs the commands of the README in a temporary folder: clone, and `make run` until it prints a configuration. Then
it reads that configuration as an editor does, connects with the Python SDK, lists the tools and searches. The table has
the elapsed seconds of each step, and the seconds of CPU of all commands of the first run, which depend less on what
else runs on the machine. pip uses its cache, as on a machine of a developer; `--no-cache` does not.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import signal
import subprocess
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from attrs import frozen
from httpx2 import AsyncClient
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from .servers.launch import free_port

ROOT = Path(__file__).parent.parent

QUESTION = "read and write my calendar"

PAUSE = 0.05
"""Seconds between two attempts to connect."""


@frozen
class Step:
    """A step with its seconds; `is_counted` if they are part of the way to the first answer."""

    name: str
    seconds: float
    result: str = ""
    is_counted: bool = True


async def ask(server: dict[str, Any]) -> list[Step]:
    """Connect to the `server` of a configuration and search; return the steps with their seconds and results."""
    steps = []
    start = time.monotonic()
    async with (
        AsyncClient(headers=server["headers"], timeout=60) as http,
        Client(streamable_http_client(server["url"], http_client=http), read_timeout_seconds=60) as client,
    ):
        tools = await client.list_tools()
        names = ", ".join(tool.name for tool in tools.tools)
        steps.append(Step("connect, list the tools", time.monotonic() - start, names))
        start = time.monotonic()
        found = await client.call_tool("search_mcp", {"keywords": QUESTION})
        names = ", ".join(each["name"] for each in found.structured_content["data"][:3])
        steps.append(Step(f"search: {QUESTION}", time.monotonic() - start, names))
    return steps


def printed_configuration(output: Iterator[str]) -> dict[str, Any]:
    """Return the JSON that `make run` prints. Raises SystemExit if it ends without."""
    lines: list[str] = []
    for line in output:
        if lines or line == "{\n":
            lines.append(line)
        if line == "}\n":
            configuration: dict[str, Any] = json.loads("".join(lines))
            return configuration
    raise SystemExit("make run ended without a configuration.")


def wait_until_ready(url: str) -> None:
    """Wait until a server accepts connections; connections wait in its socket until it is ready."""
    place = urlsplit(url)
    while True:
        connection = HTTPConnection(str(place.hostname), place.port, timeout=60)
        try:
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        except ConnectionRefusedError:
            pass
        finally:
            connection.close()
        time.sleep(PAUSE)


def measure(repository: str, port: int, folder: Path, environ: dict[str, str]) -> Iterator[Step]:
    """Yield the steps with their seconds and results."""
    start = time.monotonic()
    subprocess.run(["git", "clone", "--quiet", repository, str(folder)], check=True)
    yield Step("git clone", time.monotonic() - start)
    for run in ("first", "second"):
        start = time.monotonic()
        server = subprocess.Popen(
            ["make", "run", f"PORT={port}"],
            cwd=folder,
            env=environ,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert server.stdout is not None
        try:
            configuration = printed_configuration(iter(server.stdout))["mcpServers"]["mcp-directory"]
            wait_until_ready(configuration["url"])
            name = f"make run, the {run} time, until the server answers"
            yield Step(name, time.monotonic() - start, configuration["url"], is_counted=run == "first")
            if run == "first":
                yield from asyncio.run(ask(configuration))
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.communicate()
        if run == "first":
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            yield Step("CPU of these commands", used.ru_utime + used.ru_stime, is_counted=False)


def main() -> None:
    """Print the seconds of each step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repository", default=str(ROOT), help="path or URL of the repository; this one by default")
    parser.add_argument("--port", type=int, default=0, help="port of the server; a free one by default")
    parser.add_argument("--no-cache", action="store_true", help="let pip download and compile everything")
    arguments = parser.parse_args()
    environ = {**os.environ, **({"PIP_NO_CACHE_DIR": "1"} if arguments.no_cache else {})}
    total = 0.0
    with TemporaryDirectory() as folder:
        steps = measure(arguments.repository, arguments.port or free_port(), Path(folder) / "clone", environ)
        for step in steps:
            total += step.seconds * step.is_counted
            print(f"{step.seconds:7.1f} s  {step.name}{f'  ({step.result})' if step.result else ''}", flush=True)
    print(f"{total:7.1f} s  from the clone to the first answer")


if __name__ == "__main__":
    main()
