"""Console examples of a Markdown file: parsing, and comparison of outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

ROOT = Path(__file__).parents[2]

CHAPTERS = sorted(ROOT.glob("directory_server/features/*/operations.md"))
"""Chapters of docs/operations.md, each in the folder of its feature."""

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)

_VARIABLE = {
    r"mcpd_\S+": "<key>",
    r"\b\d{4}-\d\d-\d\d \d\d:\d\d": "<date>",
    r"\b[0-9a-f]{12}\b(?!-)": "<log>",
    r"(?m)(?<=^)[a-z0-9]{8}(?=  )|(?<=^  )[a-z0-9]{8}(?=  )|(?<=[Kk]ey )[a-z0-9]{8}(?= for)": "<id>",
    r"/account/invitation/\S+": "/account/invitation/<link>",
    r"(?<=in )(\d+ pages? and )?[\d.]+ seconds": "<time>",
    r"(?<=;r=)\d+;t=\d+": "<quota>",
    r"(?<=Remaining: )\d+|(?<=Reset: )\d+": "<quota>",
    r"(?<=Mcp-Session-Id: )\S+": "<session>",
    r"(?<=Content-Length: )\d+": "<length>",
    r"cursor=[\w-]+": "cursor=<cursor>",
    r"ends in \w+|(?<=robot  )\w{4}|(?<=first key    )\w{4}": "<end>",
}
"""Patterns of values that differ between runs, and their replacements."""


@frozen
class Command:
    """A command of an example and the output that the document shows; "" if it shows none."""

    text: str
    output: str


@frozen
class Example:
    """A console block of a document; `line` is the number of its first line."""

    document: str
    line: int
    commands: tuple[Command, ...]

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"


def examples(path: Path) -> Iterator[Example]:
    """Yield the console blocks of the document at `path`, in their order."""
    text = path.read_text("utf-8")
    for block in _BLOCK.finditer(text):
        line = text.count("\n", 0, block.start()) + 1
        yield Example(str(path.relative_to(ROOT)), line, tuple(_commands(block[1])))


def _commands(block: str) -> Iterator[Command]:
    lines = block.splitlines()
    while lines:
        first = lines.pop(0)
        assert first.startswith("$ "), f"not a command: {first}"
        command = [first[2:]]
        while command[-1].endswith("\\"):
            command[-1] = command[-1].removesuffix("\\")
            command.append(lines.pop(0).strip())
        output = []
        while lines and not lines[0].startswith("$ "):
            output.append(lines.pop(0))
        yield Command(" ".join(each.strip() for each in command), "\n".join(output))


def stable(text: str) -> str:
    """Return `text` without the values that differ between two runs, and without spaces at the ends of lines."""
    text = re.sub(r"^: ?\n\n?", "", text + "\n", flags=re.MULTILINE)
    for pattern, replacement in _VARIABLE.items():
        text = re.sub(pattern, replacement, text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def matches(shown: str, printed: str) -> bool:
    """Return whether `printed` is what a document shows; `…` in `shown` stands for any text."""
    pattern = ".*".join(re.escape(part) for part in stable(shown.replace("\n…\n", "…")).split("…"))
    return re.fullmatch(pattern, stable(printed), re.DOTALL) is not None
