"""Search for products whose names are misspelt, joined, split or abbreviated, and count those that are found.

    python -m bench.misspellings

A product is found if one of the first three hits has it in its name or title. Each missed query is printed.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from .catalogue.files import REAL, read_entries
from .catalogue.products import product_queries
from .engines.ours import our_engine, our_index


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=Path, default=REAL, help="gzipped JSON Lines of entries")
    entries = read_entries(parser.parse_args().entries)
    search = our_engine(our_index(entries), entries)
    titles = {entry.name: f"{entry.name} {entry.title}" for entry in entries}
    cases, found = Counter[str](), Counter[str]()
    for case in product_queries():
        hits = [titles[name] for name in search(case.q)]
        cases[case.form] += 1
        found[case.form] += case.found(hits)
        if not case.found(hits):
            print(f"{case.form}: {case.q} ({case.product}): {', '.join(hits[:3])}")
    for form, count in cases.items():
        print(f"{form:<13}{found[form]:>4} of {count}")
    print(f"{'all':<13}{found.total():>4} of {cases.total()}")


if __name__ == "__main__":
    main()
