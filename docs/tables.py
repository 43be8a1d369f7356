"""Write the tables of settings in docs/operations.md, which are the output of `directory-server config --markdown`.

python docs/tables.py
"""

from __future__ import annotations

from pathlib import Path

from directory_server.config import settings_tables
from directory_server.features import sections

DOCUMENT = Path(__file__).with_name("operations.md")

BEGIN, END = "<!-- begin: directory-server config --markdown -->\n\n", "\n<!-- end -->"


def with_tables(text: str) -> str:
    """Return the text of the document with the tables of this version."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}{settings_tables(sections())}{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    DOCUMENT.write_text(with_tables(DOCUMENT.read_text("utf-8")), "utf-8")
