"""Checks of packages with the APIs of their registries."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from attrs import asdict, evolve, field, frozen
from twisted.internet.defer import Deferred, TimeoutError

from ....domain.checks import PackageStatus
from ....domain.ports.runtime import Offload
from ....http_client import cancellable
from ....texts.sanitize import clean_line
from ..results import PackageCheck
from . import _npm, _nuget, _oci, _pypi
from ._client import Client, Network
from ._ending import NETWORK_ERRORS, Ended, ended
from ._package_api import DENIED, Api, Failed, Found, TooLarge, is_version

MAX_TEXT = 300
"""Characters of a detail, and of a publisher's text."""

MAX_VERSION = 100
"""Characters of a version."""

Source = Callable[[Client], Coroutine[Any, Any, Found]]

ORIGINS = {"npm": _npm.ORIGIN, "pypi": _pypi.ORIGIN, "nuget": _nuget.ORIGIN}
"""The API of each type of registry. Images name their registry; `_oci.HUBS` has the allowed ones."""

_PLAIN = {"npm": _npm, "pypi": _pypi, "nuget": _nuget}


@frozen(eq=False)
class PackageChecker:
    """Checks packages. `now` returns seconds since the epoch; `timeout` is the seconds of a whole check."""

    _network: Network
    _offload: Offload
    _clock: Any
    _now: Callable[[], float]
    _timeout: float
    _origins: Mapping[str, str] = field(factory=ORIGINS.copy)
    _hubs: Mapping[str, _oci.Hub] = field(factory=_oci.HUBS.copy)

    async def check(self, registry_type: str, identifier: str, version: str, server_name: str) -> PackageCheck:
        """Return what the registry of type `registry_type` says about the package `identifier` and its version.

        Without a version the latest one is checked. `server_name` is the name of the entry, which the package should
        name. It raises nothing for what a registry does. A check whose Deferred is cancelled raises CancelledError.
        """
        check = PackageCheck(registry_type, identifier, version, self._now(), PackageStatus.NOT_CHECKABLE)
        asking = self._source(registry_type, identifier, version, server_name)
        if isinstance(asking, str):
            return evolve(check, detail=asking)
        client = Client(self._network)
        running = Deferred.fromCoroutine(cancellable(asking(client)))
        try:
            found = await running.addTimeout(self._timeout, self._clock)
        except TimeoutError:
            found = _unreachable(f"Its registry did not answer within {self._timeout:g} seconds.")
        except (Failed, TooLarge) as error:
            found = _unreachable(str(error))
        except Ended as error:
            found = _unreachable(error.detail)
        except NETWORK_ERRORS as error:
            found = _unreachable(ended(error).detail)
        finally:
            await client.close()
        cleaned = {
            "latest_version": clean_line(found.latest_version, MAX_VERSION),
            "deprecation": clean_line(found.deprecation, MAX_TEXT),
            "detail": clean_line(found.detail, MAX_TEXT),
        }
        return evolve(check, **{**asdict(found, recurse=False), **cleaned})

    def _source(self, kind: str, identifier: str, version: str, server_name: str) -> Source | str:
        """Return the coroutine function that checks the package, or why it cannot be checked."""
        if version and not is_version(version):
            return "Its version is invalid."
        if kind == "oci":
            image = _oci.parse(identifier)
            if image is None:
                return "Its identifier is invalid."
            hub = self._hubs.get(image.host)
            if hub is None:
                return "Images of this registry are not checked."

            async def check_image(client: Client) -> Found:
                api = Api(hub.origin, client, self._offload, frozenset(hub.blobs), DENIED)
                return await _oci.check(api, hub, image, version, server_name)

            return check_image
        module = _PLAIN.get(kind)
        if module is None:
            return "Packages of this kind are not checked."
        if not module.is_valid(identifier):
            return "Its identifier is invalid."
        origin = self._origins[kind]

        async def check_package(client: Client) -> Found:
            api = Api(origin, client, self._offload)
            found: Found = await module.check(api, identifier, version, server_name)
            return found

        return check_package


def _unreachable(detail: str) -> Found:
    return Found(PackageStatus.UNREACHABLE, detail=detail)
