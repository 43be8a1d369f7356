"""Ways to type the name of a product: misspelt, joined, split, abbreviated. They need no judge.

A query is answered if one of the first FIRST hits has the product in its name or title. The cases are the same in each
run: a hash of the product and the form chooses the place of an edit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence

from attrs import frozen

FIRST = 3
"""Hits of which one must be of the product."""

PRODUCTS = """
airtable, ansible, apache airflow, asana, azure devops, bigquery, bitbucket, blender, bluesky, brave search,
clickhouse, clickup, cloudflare, coingecko, confluence, databricks, datadog, discord, docker, dropbox, duckdb,
elasticsearch, excel, figma, firebase, firecrawl, ghidra, github, gitlab, gmail, google calendar, google drive, google
sheets, grafana, home assistant, hubspot, hugging face, instagram, jenkins, jira, jupyter, kafka, kubernetes,
langfuse, linear, linkedin, mailchimp, metabase, microsoft teams, mixpanel, mongodb, mysql, neo4j, netlify, notion,
obsidian, openstreetmap, pagerduty, perplexity, pinecone, playwright, postgres, postman, power bi, prometheus,
puppeteer, qdrant, quickbooks, rabbitmq, raspberry pi, reddit, redis, salesforce, selenium, sendgrid, sentry,
servicenow, shopify, slack, snowflake, sonarqube, spotify, sqlite, stripe, supabase, telegram, terraform, todoist,
trello, twilio, unreal engine, vercel, whatsapp, wireshark, wordpress, xcode, youtube, zapier, zendesk, zotero
"""

ABBREVIATIONS: Mapping[str, str] = {
    "k8s": "kubernetes", "gsheets": "google sheets", "gcal": "google calendar", "gdrive": "google drive",
    "tf": "terraform", "pg": "postgres", "psql": "postgres", "mongo": "mongodb", "vscode": "vscode", "gh": "github",
    "dynamo": "dynamodb", "s3": "s3", "ec2": "ec2", "elk": "elasticsearch", "hass": "home assistant",
    "yt": "youtube", "fb": "facebook", "insta": "instagram", "ppt": "powerpoint", "wp": "wordpress",
    "bq": "bigquery", "cf": "cloudflare", "osm": "openstreetmap", "hf": "hugging face", "pw": "playwright",
    "tg": "telegram", "wa": "whatsapp", "rpi": "raspberry pi", "gcp": "gcp", "sf": "salesforce",
}  # fmt: skip
"""Abbreviations that people type, and their products."""

_NEIGHBOURS = dict(
    zip("abcdefghijklmnopqrstuvwxyz", "snvfrdghujokmjipwtrygbecxa", strict=True)
)  # fmt: skip
"""A key beside each letter."""

_VOWELS = dict(zip("aeiou", "eieuo", strict=True))

_SOUNDS = (("ph", "f"), ("ck", "k"), ("x", "ks"), ("qu", "kw"), ("c", "k"), ("y", "i"), ("s", "ss"), ("t", "tt"))


@frozen
class ProductQuery:
    """A query, the way it is typed, and the product that it means."""

    form: str
    q: str
    product: str

    def found(self, hits: Sequence[str]) -> bool:
        """Return whether a text of the first hits (name and title) has the product, without its separators."""
        return any(_plain(self.product) in _plain(hit) for hit in hits[:FIRST])


def product_queries() -> Iterator[ProductQuery]:
    """Yield three misspellings of each product, chosen by a hash, and all abbreviations."""
    for product in (" ".join(each.split()) for each in PRODUCTS.split(",")):
        typed = {form: type_it(product) for form, type_it in _FORMS.items()}
        forms = sorted((form for form, q in typed.items() if q != product), key=lambda form: _number(product, form))
        yield from (ProductQuery(form, typed[form], product) for form in forms[:3])
    yield from (ProductQuery("abbreviation", short, product) for short, product in ABBREVIATIONS.items())


def _number(*texts: str) -> int:
    return int.from_bytes(hashlib.sha256("\n".join(texts).encode()).digest()[:4], "big")


def _edited(product: str, form: str, edit: Callable[[str, int], str]) -> str:
    """Return `product` with an edit inside its longest word, not at its first letter."""
    word = max(product.split(), key=len)
    return product.replace(word, edit(word, 1 + _number(product, form) % (len(word) - 2)), 1)


def _sounding(product: str) -> str:
    return next((product.replace(one, other, 1) for one, other in _SOUNDS if one in product[1:]), product)


def _vowel(product: str) -> str:
    place = next((place for place in range(len(product) - 1, 0, -1) if product[place] in _VOWELS), 0)
    return product[:place] + _VOWELS[product[place]] + product[place + 1 :] if place else product


_FORMS: Mapping[str, Callable[[str], str]] = {
    "transposed": lambda p: _edited(p, "transposed", lambda w, i: w[:i] + w[i + 1] + w[i] + w[i + 2 :]),
    "dropped": lambda p: _edited(p, "dropped", lambda w, i: w[:i] + w[i + 1 :]),
    "doubled": lambda p: _edited(p, "doubled", lambda w, i: w[: i + 1] + w[i:]),
    "neighbour": lambda p: _edited(p, "neighbour", lambda w, i: w[:i] + _NEIGHBOURS.get(w[i], "") + w[i + 1 :]),
    "vowel": _vowel,
    "sounding": _sounding,
    "joined": lambda p: p.replace(" ", ""),
    "split": lambda p: p if " " in p else p[: len(p) // 2] + " " + p[len(p) // 2 :],
    "plural": lambda p: f"{p}s",
    "version": lambda p: f"{p} v2",
    "with mcp": lambda p: f"{p.replace(' ', '')}mcp",
    "camel case": lambda p: p.title().replace(" ", ""),
}


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
