"""What a publisher may say to a runner: options that are known, so that what is run is the package that is named."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from attrs import frozen

from ._texts import Input, Text, Unusable

_STEERS = re.compile(
    r"(npm_config|uv|pip|nuget|ld|dyld)_.*|path|node_(options|path)|python(path|home|startup)"
    r"|docker_(host|config|context)|dotnet_startup_hooks|(https?|all)_proxy",
    re.IGNORECASE,
)
"""Variables that tell runners and loaders where to get code from, and what more to run."""


@frozen
class Options:
    """The options of a runner that entries may state: `switches`, and those with a value.

    The value of `packages` is the package itself; that of `variables` names a variable.
    """

    switches: Collection[str] = ()
    valued: Collection[str] = ()
    packages: Collection[str] = ()
    variables: Collection[str] = ()

    def check(self, stated: Iterable[Text], name: str, given: Collection[str]) -> list[Text]:
        """Return the arguments before package `name`, which is handed the variables `given`. Raises Unusable.

        A word that no option takes would be run in place of the package.
        """
        words = list(stated)
        rest: Iterator[Text] = iter(words)
        for word in rest:
            option, equals, value = _fixed(word).partition("=")
            if option in self.switches and not equals:
                continue
            if not equals:
                taken = next(rest, ())
                value = _fixed(taken) if all(isinstance(part, str) for part in taken) else "="
            self._check_value(option, value, name, given)
        return words

    def _check_value(self, option: str, value: str, name: str, given: Collection[str]) -> None:
        if not value or value.startswith("-"):
            raise Unusable
        if option in self.packages:
            if value != name and not value.startswith(f"{name}@"):
                raise Unusable
        elif option in self.variables:
            # Without a value, Docker takes that of the person's own environment.
            if "=" not in value and value not in given:
                raise Unusable
        elif option not in self.valued:
            raise Unusable


def check_variables(given: Mapping[str, Text]) -> None:
    """Raise Unusable if a publisher sets what steers the runner; what people fill in is their own."""
    if any(_STEERS.fullmatch(name) and not any(isinstance(part, Input) for part in given[name]) for name in given):
        raise Unusable


def _fixed(text: Text) -> str:
    return "".join("<>" if isinstance(part, Input) else part for part in text)
