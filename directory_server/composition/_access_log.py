"""The access log of a server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from attrs import frozen

from ..web import access_file, access_log
from ._core import Core


@frozen
class AccessLogging:
    """Records finished requests; `reopen` opens the log file again after a rotation."""

    recorder: access_log.AccessRecorder
    reopen: Callable[[], None] = lambda: None


def build_access_log(core: Core) -> AccessLogging:
    """Return the recorder of requests: metrics always, log lines unless log.access is off."""
    config = core.config.log
    observers: list[access_log.Observer] = [core.metrics.observe, *(feature.observe for feature in core.running)]
    # The reactor's clock is monotonic and does not show the time of day.
    recorder = access_log.AccessRecorder(core.runtime.now, observers, core.runtime.turn)
    if config.access == "off":
        return AccessLogging(recorder)
    # The server log has a prefix before each line, which is no JSON.
    is_bare = config.access == "json" and access_file.has_standard_output()
    path = Path(config.access_file) if config.access_file else access_file.STANDARD_OUTPUT if is_bare else None
    file = None if path is None else access_file.AccessFile(path)
    observers.append(access_log.AccessLog(config.access, file.logger if file else None))
    return AccessLogging(recorder, file.reopen) if file else AccessLogging(recorder)
