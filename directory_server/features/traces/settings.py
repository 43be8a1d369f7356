"""Settings of traces."""

from __future__ import annotations

import re
from collections.abc import Mapping

from attrs import frozen

from ...config import ConfigError, endpoint_url, read_setting_file, setting

_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)")
"""A field of HTTP, RFC 9110, section 5."""


def _is_share(_: object, attribute: object, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError("must be a number from 0 to 1.")


@frozen
class TracesConfig:
    """Traces of requests, sent to a collector of OpenTelemetry; they need the extra `traces`."""

    endpoint: str = setting("", "URL for OTLP/HTTP, such as http://127.0.0.1:4318/v1/traces.", endpoint_url)
    sample: float = setting(1.0, "Share of traces that is recorded, from 0 to 1.", _is_share)
    follow: bool = setting(False, "Whether the client's `traceparent` decides instead; for trusted clients.")
    service: str = setting("directory-server", "Name of the service in traces.")
    headers_file: str = setting("", "File with headers, a line such as `Authorization: Bearer ...` each.")

    def headers(self) -> Mapping[str, str]:
        """Return the headers for the collector. Raises ConfigError."""
        text = read_setting_file("traces.headers_file", self.headers_file).decode("latin-1")
        fields = [_HEADER.fullmatch(line.strip()) for line in text.splitlines() if line.strip()]
        if not all(fields):
            raise ConfigError("traces.headers_file: must have lines such as Name: value only, in ASCII.")
        return {field[1]: field[2] for field in fields if field is not None}
