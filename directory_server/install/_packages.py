"""A server that is run on the person's machine, from a package."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from attrs import frozen

from ._remotes import hosted
from ._runtime import Options, check_variables
from ._server import Server
from ._texts import Inputs, Text, Unusable, mapping, mappings, words

_VERSION = re.compile(r"[0-9][A-Za-z0-9.+_-]{0,60}")
_VARIABLE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,100}")
_VALUED = {"value", "default", "valueHint", "placeholder", "choices", "format", "isSecret", "variables"}
_LOOPBACK = ("localhost", "127.0.0.1", "::1", "0.0.0.0")


@frozen
class Runner:
    """What runs the packages of a registry.

    `names` is what a package may be called: never an option, a path or a URL. `base` is the registry's own host, which
    the runner asks unless told otherwise. `before` goes before the publisher's own arguments to the runner, of which
    those in `options` are taken.
    """

    command: str
    names: re.Pattern[str]
    base: Sequence[str]
    exact: Callable[[str, str], str]
    options: Options
    before: Sequence[str] = ()
    after: Sequence[str] = ()


def _tagged(name: str, version: str) -> str:
    return name if "@" in name or ":" in name.rpartition("/")[2] else f"{name}:{version}"


_DOCKER = Options(
    switches=("--init", "--read-only", "--interactive"),
    valued=(
        *("-v", "--volume", "--mount", "--tmpfs", "-p", "--publish", "--network", "--add-host"),
        *("-u", "--user", "-w", "--workdir", "--name", "--pull", "--platform", "-m", "--memory", "--cpus"),
    ),
    variables=("-e", "--env"),
)

RUNNERS = {
    "npm": Runner(
        "npx",
        re.compile(r"(@[A-Za-z0-9~_][A-Za-z0-9._~-]*/)?[A-Za-z0-9~_][A-Za-z0-9._~-]*"),
        ("registry.npmjs.org",),
        "{}@{}".format,
        Options(switches=("-q", "--quiet"), packages=("-p", "--package")),
        before=("-y",),
    ),
    "pypi": Runner(
        "uvx",
        re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?"),
        ("pypi.org",),
        "{}@{}".format,
        Options(switches=("-q", "--quiet"), valued=("-p", "--python"), packages=("--from",)),
    ),
    "oci": Runner(
        "docker",
        re.compile(
            r"[A-Za-z0-9][A-Za-z0-9._/-]*(:[0-9]+/[A-Za-z0-9._/-]+)?(:[\w][\w.-]*)?(@sha256:[0-9a-f]{64})?", re.ASCII
        ),
        ("docker.io", "ghcr.io", "quay.io", "mcr.microsoft.com"),
        _tagged,
        _DOCKER,
        before=("run", "-i", "--rm"),
    ),
    "nuget": Runner(
        "dnx",
        re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*"),
        ("api.nuget.org", "www.nuget.org"),
        "{}@{}".format,
        Options(),
        after=("--yes", "--"),
    ),
}
"""By registry type. An .mcpb bundle is opened, not configured; it has no row."""


def local(package: Mapping[str, Any]) -> Server:
    """Return the server that a package runs. Raises Unusable."""
    transport = mapping(package.get("transport"))
    if words(transport.get("type")) not in ("stdio", ""):
        return _elsewhere(transport)
    kind, name = words(package.get("registryType")), words(package.get("identifier"))
    runner = RUNNERS.get(kind)
    if runner is None or len(name) > 300 or not runner.names.fullmatch(name):
        raise Unusable
    name = _at_home(runner, kind, name, words(package.get("registryBaseUrl")))
    inputs = Inputs()
    given = dict(_variables(inputs, package))
    check_variables(given)
    version = words(package.get("version"))
    exact = runner.exact(name, version) if _VERSION.fullmatch(version) else name
    # Docker hands on no variable that it is not told of.
    passed = [part for each in given for part in ("-e", each)] if kind == "oci" else []
    stated = [said for said in mappings(package.get("runtimeArguments")) if not _repeats(said, runner, name)]
    arguments: list[Text] = [
        *((part,) for part in (*runner.before, *passed)),
        *runner.options.check(_arguments(inputs, stated), name, given),
        *((part,) for part in (exact, *runner.after)),
        *_arguments(inputs, mappings(package.get("packageArguments"))),
    ]
    return Server(kind, exact, inputs.all, runner.command, arguments, given=given)


def _elsewhere(transport: Mapping[str, Any]) -> Server:
    """Return the server at a package's URL, if it is not to be started by the person."""
    server = hosted(transport)
    if urlsplit(server.name).hostname in _LOOPBACK:
        raise Unusable
    return server


def _at_home(runner: Runner, kind: str, name: str, base: str) -> str:
    if not base:
        return name
    found = re.match(r"https://([a-z0-9.-]+)(/|$)", base)
    host = found[1] if found else ""
    if host not in runner.base:
        # Where a package comes from decides what is run; that is for the person to set up.
        raise Unusable
    return f"{host}/{name}" if kind == "oci" and host != "docker.io" and "." not in name.split("/")[0] else name


def _variables(inputs: Inputs, package: Mapping[str, Any]) -> Iterator[tuple[str, Text]]:
    for said in mappings(package.get("environmentVariables")):
        name = words(said.get("name"))
        if not name:
            continue
        if not _VARIABLE.fullmatch(name):
            raise Unusable
        if value := inputs.text(said, name):
            yield name, value


def _arguments(inputs: Inputs, arguments: Iterable[Mapping[str, Any]]) -> Iterator[Text]:
    for said in arguments:
        name = words(said.get("name"))
        if words(said.get("type")) == "named" or (name and said.get("type") != "positional"):
            yield from _named(inputs, said, name)
        elif value := inputs.text(said, words(said.get("valueHint")) or name or "argument"):
            yield value


def _named(inputs: Inputs, said: Mapping[str, Any], name: str) -> Iterator[Text]:
    if said.get("format") == "boolean" or not said.keys() & _VALUED:
        # A switch: there is nothing to say behind it.
        if said.get("isRequired") is True or words(said.get("value")) == "true":
            yield inputs.filled(name, {})
    elif (value := inputs.text(said, words(said.get("valueHint")) or name)) is not None:
        yield inputs.filled(name, {})
        yield value


def _repeats(said: Mapping[str, Any], runner: Runner, name: str) -> bool:
    """Say whether a publisher states what is there anyway: the runner, its own arguments, the package."""
    word = words(said.get("name")) or words(said.get("value"))
    return word in (runner.command, *runner.before, *runner.after, "--yes", name)
