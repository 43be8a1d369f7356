"""The plugin `twistd directory`: options and service."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from twisted.application.service import MultiService
from twisted.internet.endpoints import serverFromString
from twisted.python import usage

from ..config import Config, ConfigError, endpoints, load, setting_names
from ..features import sections
from ..runtime.machine import use_monotonic_timers
from ..runtime.main_reactor import main_reactor
from ..runtime.process import Terminal
from ._service import DirectoryService


class Options(usage.Options):
    """Options of `twistd directory`; `config` is the merged configuration."""

    synopsis = "[options]"
    longdesc = (
        "Serve a directory of MCP servers. Settings come from defaults, the --config file, DIRECTORY_SERVER_* "
        "variables and these options. Later sources override earlier ones; `directory-server config` lists them."
    )
    optParameters = [  # noqa: RUF012 (Twisted reads it from the class)
        ["data-dir", "d", None, "Data directory."],
        ["config", "c", None, "TOML file of settings."],
    ]
    optFlags = [  # noqa: RUF012 (Twisted reads it from the class)
        ["reuse-port", None, "Let several processes listen on the same ports (setting reuse_port)."],
    ]
    compData = usage.Completions(
        optActions={
            "config": usage.CompleteFiles("*.toml"),
            "data-dir": usage.CompleteDirs(),
            "listen": usage.Completer(),
            "set": usage.CompleteList([f"{name}=" for name in setting_names(sections())]),
        },
        multiUse=["listen", "set"],
    )

    def __init__(self) -> None:
        super().__init__()
        self._listen: list[str] = []
        self._settings: list[str] = []

    def opt_listen(self, endpoint: str) -> None:
        """Twisted endpoint to listen on, such as tcp:8080; may be given more than once."""
        self._listen.append(endpoint)

    def opt_set(self, setting: str) -> None:
        """A setting as section.key=value; may be given more than once."""
        self._settings.append(setting)

    opt_l = opt_listen
    opt_s = opt_set

    def postOptions(self) -> None:
        """Read the configuration. Raises SystemExit, which is one line, while usage errors come behind all options."""
        settings = [*self._settings, *(["reuse_port=true"] if self["reuse-port"] else [])]
        try:
            self.config = configure(
                os.environ,
                file=self["config"],
                data_dir=self["data-dir"],
                listen=self._listen,
                settings=settings,
            )
        except ConfigError as error:
            raise SystemExit(str(error)) from None


def configure(
    environ: Mapping[str, str],
    *,
    file: str | None = None,
    data_dir: str | None = None,
    listen: list[str] | None = None,
    settings: list[str] | None = None,
) -> Config:
    """Return the configuration from the options and `environ`. Raises ConfigError."""
    config = load(
        file=Path(file) if file else None,
        environ=environ,
        settings=settings or [],
        listen=listen or [],
        data_dir=Path(data_dir) if data_dir is not None else None,
        sections=sections(),
    )
    for description in config.listen:
        if config.reuse_port and not endpoints.read(description).has_port:
            raise ConfigError(f"reuse_port: is for endpoints of tcp, tcp6, ssl and tls; listen has {description!r}")
        _check_endpoint("listen", description)
    if config.metrics.listen:
        _check_endpoint("metrics.listen", config.metrics.listen)
    return config


def _check_endpoint(setting: str, description: str) -> None:
    # Endpoints use the reactor only to listen, and to read options must not install one.
    reactor: Any = None
    try:
        serverFromString(reactor, description)
    except Exception as error:  # Each endpoint type has its own parser, which may raise any exception.
        raise ConfigError(f"{setting}: must be endpoints such as tcp:8080, not {description!r}: {error}") from None


def makeService(options: Options) -> MultiService:
    """Return the service for `options`; it opens and starts nothing yet."""
    return service(options.config)


def service(config: Config) -> MultiService:
    """Return the service for `config`, on the reactor of this process."""
    reactor = main_reactor()
    use_monotonic_timers(reactor)
    return DirectoryService(config, reactor, Terminal())
