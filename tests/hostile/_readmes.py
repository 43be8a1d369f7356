"""README texts that are as costly as possible for parsers of Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterator

SIZE = 20_000
"""Characters of a text: all that is rendered."""


def filled(part: str, size: int = SIZE) -> str:
    return (part * (size // len(part) + 1))[:size]


def table(columns: int, rows: int) -> str:
    return "|" + "a|" * columns + "\n|" + "-|" * columns + "\n" + "|\n" * rows


def numbered(form: str, count: int) -> str:
    return "".join(form.format(number) for number in range(count))


REPEATED = (
    *(
        "|\n",
        "a|b\n|-|\n\n",
        "|-",
        "[",
        "](",
        "[a](",
        "![",
        "[a][b]",
        "[](<",
        '[a](b "',
        "*",
        "**a ",
        "*a_ ",
        "*a **b ",
    ),
    *(
        "~~",
        "~~a ",
        "a**b",
        "*_~~",
        "中**中",
        "`",
        "`a ",
        "``a` ",
        "<",
        "<a ",
        "<!--",
        "<![CDATA[",
        '<a x="',
        "</",
        "<b>",
    ),
    *("<i><b><s>", "<b><p>x", "<table><tr><td>", "<p>\n\n", "<http://a>", "<li>", "<a href=http://a>x", "<svg><b>"),
    *("<math><mi>", "<select>", "<template>", "<div>\n", "&", "&#x41;", '"', "> ", "> a\n", "- ", "- a\n", "-\ta\n"),
    *("+ > ", "1. a\n", "# a\n", "a\n=\n", "- - -\n", "```\n", "~~~\na\n", "    a\n\n", "\t", "\\*", "a  \n"),
    *("a\n\n", "rm ", "rm -rf *\n", "[a](http://a) ", "[](http://é)", "![a](b)", "[a]:\n", "क्\u200d"),
    "- > | a [b](c) *d* `e`\n",
)
"""Parts that fill a text."""

SINGLE = {
    "a table of 700 columns in 3,000 characters": table(700, 94),
    "a square table": table(256, 256),
    "a table of 20,000 characters": table(1_000, 15_000)[:SIZE],
    "a table of two columns": table(2, 4_000)[:SIZE],
    "many tables": (table(20, 20) + "\n") * 60,
    "a table in a quote": "> " + table(100, 600).replace("\n", "\n> "),
    "a table in a list": "- " + table(100, 600).replace("\n", "\n  "),
    "nested brackets": "[" * 9_999 + "]" * 9_999,
    "4,000 letters": filled("rm", 4_000),
    "references": numbered("[{}]: http://a\n", 1_200)[:SIZE],
    "a reference that is used often": "[a]: http://a.example/" + "x" * 100 + "\n\n" + filled("[a]", 19_000),
    "code spans that grow": "".join("`" * length + " " for length in range(1, 200)),
    "quotes that grow": "".join("> " * min(depth, 20) + "a\n" for depth in range(1_000))[:SIZE],
    "lists that grow": "".join("  " * depth + "- a\n" for depth in range(140)),
    "a list in lists": filled("- " * 9 + "a\n"),
    "lazy lines": filled("> " * 18 + "a\n"),
    "a long heading": "a\n" * 9_999 + "=",
    "an open block of code": "```\n" + filled("a\n"),
    "spaces": "a" + " " * 19_000 + "b",
    "a long link": "[a](http://" + "a" * 19_000 + ")",
    "parentheses": "[a](" + "(" * 9_000 + ")" * 9_000 + ")",
    "nested images": "![" * 2_000 + "a" + "](b)" * 2_000,
    "an open element": "<pre>" + filled("a\n\n", 19_000),
    "formatting in each paragraph": numbered("<b a={}>", 800) + "<p>x</p>" * 1_200,
    "formatting without attributes": "<b><i><s><u><em><tt>" * 3 + "<p>x</p>" * 2_000,
    "formatting in each cell": numbered("<i a={}>", 300) + "<table><tr><td>x" * 900,
    "formatting that is closed late": numbered("<b a={}>", 900) + "<p>" + "</b>" * 900,
    "formatting and Markdown": "x " + numbered("<b a={}>", 800) + "\n\na" * 3_000,
}


def texts() -> Iterator[tuple[str, str]]:
    """Yield the names and the texts."""
    yield from ((repr(part), filled(part)) for part in REPEATED)
    yield from SINGLE.items()
