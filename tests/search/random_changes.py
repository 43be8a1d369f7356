"""Random entries of few words, and queries for them."""

from __future__ import annotations

from random import Random

from directory_server.domain.changes import Change
from directory_server.domain.entries import PUBLISHER, Entry
from directory_server.search import TextAnalysis

WORDS = (
    *("mail", "letters", "weather", "forecast", "database", "github", "kubernetes", "deploys", "remote", "server"),
    *("reads", "邮件", "天气"),
)

QUERIES = (
    "mail", "weather forecast", "read letter", "mial", "databse quer", "gith", "server-1", "org.example/server-2",
    "do i need an umbrella", "邮件", "天气 mail", "remote -weather", '"reads mail"', "tag:blue", "official:false mail",
    "kubernetes deploys remote server", "-mail", "zzzz", "tag:red tag:blue weather", "serv",
)  # fmt: skip


def changes_of(random: Random, seq: int) -> list[Change]:
    """Return changes that add, replace, remove and pin some of 40 entries."""
    analysis, changes = TextAnalysis(), []
    for number in random.sample(range(40), random.choice([1, 3, 20])):
        words = random.choices(WORDS, k=random.choice([2, 5, 9])) if random.random() < 0.8 else ["reads mail", "remote"]
        publisher = {"tags": random.sample(["red", "blue"], 1), "stars": random.choice([0, 0, 500])}
        server = {"name": f"org.example/server-{number}", "version": "1", "description": " ".join(words)}
        entry = Entry({**server, "_meta": {PUBLISHER: publisher}})
        gone = random.random() < 0.2
        analysed = None if gone else analysis(entry)
        changes.append(Change(seq, "changed", entry.mcp_id, b"{}", analysed, pinned=random.random() < 0.05))
    return changes
