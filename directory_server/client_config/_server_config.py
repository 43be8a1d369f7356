"""Server configuration independent of the editor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attrs import field, frozen

from ._notices import Notice
from ._values import Input, Template


@frozen
class ServerConfig:
    """A command to run or a URL to connect to, with variables or headers, and all `inputs`, optional ones included."""

    kind: str
    name: str
    inputs: Sequence[Input]
    command: str = ""
    arguments: Sequence[Template] = ()
    url: Template = ()
    given: Mapping[str, Template] = field(factory=dict)
    """Environment variables of a command, headers of a URL."""
    warnings: Sequence[Notice] = ()

    @property
    def asked(self) -> Iterator[Input]:
        """Yield the inputs that the configuration contains."""
        for text in (*self.arguments, self.url, *self.given.values()):
            yield from (part for part in text if isinstance(part, Input))

    @property
    def size(self) -> int:
        """Return the number of characters of the configuration."""
        said = (*self.arguments, self.url, *self.given.values(), tuple(self.given))
        texts = sum(len(part.name if isinstance(part, Input) else part) for text in said for part in text)
        questions = sum(len(each.description) + len(each.default) + sum(map(len, each.choices)) for each in self.inputs)
        return texts + questions + 8 * len(self.arguments)
