"""Findings by the shape of a text: invisible characters, look-alike letters, encoded commands, turns of a chat."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Iterator
from html import unescape
from itertools import islice
from urllib.parse import unquote

import regex

from ..texts.sanitize import invisible_spans
from .words import fold, rules

Span = tuple[int, int]

_BRACKETED = re.compile(
    r"<\s?/?\s?(?:system|assistant|secret|hidden|instructions?|admin|important[_ ]instructions?|sys)\s?>"
    r"|<\|(?:im_start|im_end|system|user|assistant|endoftext)\|>|\[/?INST\]|<<\s?SYS\s?>>"
    r"|\[\s?(?:system|assistant|hidden|secret|admin|developer)[ _-]+"
    r"(?:instructions?|messages?|notes?|override|prompt|directives?)\b"
    r"|##\s?(?:new (?:system|assistant|developer|admin)[ _-](?:message|instruction|prompt|directive)"
    r"|(?:system|assistant|developer|admin)[ _-](?:message|override))"
    r"|\{\{?\s?(?:system|assistant|admin)\s?:"
    r"|</?(?:tool_(?:description|call|result|response|use)|function_(?:calls?|results?))>"
    r"|(?<=\n)#{2,4} ?(?:system|assistant|human)\s?:"
    r"|(?<=\s{9})(?:system|assistant|ai|user|human):"
    r"|(?<=\n)(?:assistant|ai):(?=[^\n]{1,400}\n\s?(?:user|human):)",
    re.I,
)

_SAID = re.compile(r"\W*+(?:\w++\W++){2}\w")
"""What a message begins with that a delimiter announces: at least three words."""

MAX_MESSAGE = 200
"""Characters after a delimiter among which a message begins."""

_HIDDEN = re.compile(
    r"<!--[^<>]{0,2000}+(?:-->|\Z)|\[//\]: # ?[(\"'][^\n]{0,1000}+"
    r"|<\w{1,10} [^<>]{0,100}(?:display: ?none|visibility: ?hidden|font-size: ?0|opacity: ?0|color: ?(?:white|#fff))"
    r"[^<>]{0,100}+>[^<>]{0,2000}+",
    re.I,
)
"""Parts of Markdown and HTML that a page does not show."""

_SENTENCE = re.compile(r"[^.!?;\n。！？；।]+")

_FOREIGN_ORDERS = ({"IGNORE", "ORDERS"}, {"NOT", "TELL", "USER"})
"""Concepts whose words make an order, in whatever sequence a language has them."""

_ADDRESSEE = re.compile(
    r"\b(?:AI|LLMs?|(?:AI |coding )?(?:agents?|assistants?)|language models?|claude|copilot|cursor|chatgpt|gemini)\b"
    r"[^.\n]{0,60}?(?:[:,]|\b(?:must|should|shall|will|please|do not|don't|never|always|you)\b)",
    re.I,
)
"""A model that is addressed."""

_LABEL = re.compile(r"(?:SYSTEM|ASSISTANT|ADMIN)(?: (?:NOTE|MESSAGE|OVERRIDE|PROMPT|INSTRUCTIONS?|DIRECTIVE))?:")

_LABELLED = re.compile(r"(?:[.!?\n>\])] |\n|\A)\Z")
"""What stands before a label: a sentence or line that has ended, or nothing."""

MIN_CODED = 24
"""Characters of the shortest text in base64 or hexadecimal digits that is decoded."""

_CODED = re.compile(
    r"[A-Za-z0-9+/_-]{24,4096}|(?:\\x[0-9a-fA-F]{2}){8,1024}|(?:\\u[0-9a-fA-F]{4}){8,1024}|(?:&#x?[0-9a-fA-F]{1,6};){8,1024}"
)

# Possessive, and a start only where a word begins: the time is linear in the text.
_ESCAPED = re.compile(r"(?<!\S)[^\s%]*+(?:%(?![0-9a-fA-F]{2})[^\s%]*+)*+%[0-9a-fA-F]{2}\S*+")

_KEY_FOLDER = r"\.(?:ssh|aws|gnupg|kube|netrc|git-credentials|pgpass|azure|gcloud)"

_KEY_FILE = (
    r"id_(?:rsa|ed25519|ecdsa|dsa)\b|/etc/(?:passwd|shadow|sudoers)|/proc/self/environ|\.(?:bash|zsh)_history"
    r"|authorized_keys|wallet\.dat|login\.keychain"
)

SECRET = re.compile(rf"(?:^|[/\\~]){_KEY_FOLDER}(?:$|[/\\.])|{_KEY_FILE}", re.I)
"""A word that is the path of a file of keys."""

SECRET_HINT = re.compile(f"{_KEY_FOLDER}|{_KEY_FILE}")
"""What a text in lower case has if a word of it is SECRET."""

_TOPIC = re.compile(r"(?<![a-z0-9./\\~])(?:ssh|aws|kubectl|kubernetes|gpg|kubeconfig)(?![a-z0-9])", re.I)
"""What a text is about that may read such files."""

_END = re.compile(r"[.!?;](?=\s)|[。！？；\n]")

_PATH = re.compile(r"(?<![A-Za-z0-9_~.:@-])[A-Za-z0-9_~.:@-]*+[/\\][A-Za-z0-9_~.:@/\\-]*+")

_LETTERS = re.compile(r"(?<!\S)[^\W\d_]+|(?:(?![A-Za-z])[^\W\d_])+")
"""Words after a space, and runs of letters of scripts that have none."""

MAX_AROUND = 300
"""Characters of a sentence before and after the path of a file that tell its language."""

MIN_FOREIGN_WORDS, MAX_KNOWN_SHARE = 4, 0.25
"""Words of a sentence in ASCII that may be of another language than English, and how many of them rules may know."""

MAX_KEY_FILES = 50
"""Paths of files of keys of a text whose sentences are read."""

_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+")

_COMMAND = re.compile(
    r"\b(?:curl|wget|nc|ncat|bash|sh|zsh|powershell|pwsh|cmd|python3?|perl|node|certutil|mshta)\b[^\n]{0,80}?"
    r"(?:https?://|/dev/tcp|\||\s-e\b|\s-c\b|-enc)"
    r"|\brm\s-[rf]{1,2}\b|/bin/(?:ba|z)?sh\b|/dev/tcp/|\beval\s?\(|\bexec\s?\(|os\.system|subprocess|child_process"
    r"|\bchmod\s(?:\+x|777)|\bInvoke-(?:Expression|WebRequest)|\bbase64\s-d|\bIEX\s?\(|\bmkfifo\s|\bdd\sif=|\bcrontab\s"
    r"|\bsudo\s|<script\b|document\.cookie|\bprintenv\b|/etc/(?:passwd|shadow)|[~/]\.(?:ssh|aws)/",
    re.I,
)

MAX_PAYLOADS = 50
"""Encoded texts that are decoded of one text."""

MIN_ESCAPES = 3
"""Escapes of an URL after which a word is decoded."""

_LINES = str.maketrans("", "", "\n\t\r")

# Possessive, so that the time is linear in the length of a word.
_WORD = regex.compile(r"[\p{Latin}\p{Cyrillic}\p{Greek}][\p{L}\p{M}]*+", regex.V1)

_LATIN = re.compile(r"[A-Za-z]")

LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕһԁԛԝвкмтАВЕКМНОРСТУХІЈЅοανικυΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aeopcyxijshdqwbkmtABEKMHOPCTYXIJSoavikuABEZHIKMNOPTYX"
)
"""Cyrillic and Greek letters, and the Latin letters that they look like."""


def turns(text: str) -> Iterator[Span]:
    """Yield the places of what looks like the beginning of a system message or of another turn of a chat."""
    is_marked = not {*"<[#{"}.isdisjoint(text) or (":" in text and ("\n" in text or " " * 9 in text))
    matches = list(_BRACKETED.finditer(text)) if is_marked else []
    for number, match in enumerate(matches):
        # The next delimiter ends the message. A lone name of a delimiter announces none.
        end = matches[number + 1].start() if number + 1 < len(matches) else len(text)
        if _SAID.match(text[match.end() : min(end, match.end() + MAX_MESSAGE)]):
            yield match.span()
    for match in _LABEL.finditer(text) if any(label in text for label in ("SYSTEM", "ASSISTANT", "ADMIN")) else ():
        if _LABELLED.search(text[max(0, match.start() - 2) : match.start()]):
            yield match.span()


def hidden_orders(text: str) -> Iterator[Span]:
    """Yield the places of comments and of invisible elements in which a model is addressed."""
    if "<" in text or "]:" in text:
        yield from (match.span() for match in _HIDDEN.finditer(text) if _ADDRESSEE.search(match[0]))


def foreign_orders(text: str) -> Iterator[Span]:
    """Yield the places of orders in other languages than English: to ignore instructions, or to tell the user nothing.

    The stems of `[stems]` in the data file stand for their concepts in all languages.
    """
    folded, stems = fold(text), rules().stems
    if not rules().objects.search(folded):
        return
    for match in _SENTENCE.finditer(folded):
        names = {name for name, stem in stems.items() if stem.search(match[0])}
        if "ABOUT" not in names and any(order <= names for order in _FOREIGN_ORDERS):
            yield match.span()


def invisible(text: str) -> Iterator[Span]:
    """Yield the place of the first invisible character that no script, emoji or line end needs."""
    if not text.isascii() or not text.translate(_LINES).isprintable():
        for span in invisible_spans(text):
            yield span
            return


def mixed_letters(text: str) -> Iterator[Span]:
    """Yield the places of words with Latin letters and with letters of other scripts that look like Latin ones."""
    for match in _WORD.finditer(text) if not text.isascii() else ():
        word = match[0]
        if not word.isascii() and _LATIN.search(word) and word.translate(LOOK_ALIKES).isascii():
            yield match.span()


def key_files(text: str) -> Iterator[Span]:
    """Yield the paths of files of keys in sentences of other languages than English, whose words no rule knows."""
    # The search for the hint, in lower case, is several times faster.
    for match in islice(SECRET.finditer(text), MAX_KEY_FILES) if SECRET_HINT.search(text.lower()) else ():
        before = _END.split(text[max(0, match.start() - MAX_AROUND) : match.start()])[-1]
        after = _END.split(text[match.end() : match.end() + MAX_AROUND], maxsplit=1)[0]
        words = [word.lower() for word in _LETTERS.findall(_PATH.sub(" ", f"{before}{match[0]}{after}"))]
        known = sum(word in rules().vocabulary for word in words)
        is_foreign = len(words) >= MIN_FOREIGN_WORDS or not all(map(str.isascii, words))
        if is_foreign and known <= MAX_KNOWN_SHARE * len(words) and not _TOPIC.search(text):
            yield match.span()


def payloads(text: str, is_command: Callable[[str], bool]) -> Iterator[Span]:
    """Yield the places of encoded texts that are commands of a shell, or that `is_command` calls a command."""
    is_coded = "\\" in text or "&#" in text or any(len(word) >= MIN_CODED for word in text.split())
    found = list(islice(_CODED.finditer(text), MAX_PAYLOADS)) if is_coded else []
    if text.count("%") >= MIN_ESCAPES:
        found += islice(_ESCAPED.finditer(text), MAX_PAYLOADS)
    for match in found:
        for decoded in _decoded(match[0]):
            inner = (again for coded in _CODED.finditer(decoded) for again in _decoded(coded[0]))
            if any(_COMMAND.search(each) or is_command(each) for each in (decoded, *inner)):
                yield match.span()
                break


def _decoded(coded: str) -> Iterator[str]:
    """Yield what a text in digits, escapes or base64 says, as far as it is text in ASCII."""
    if "%" in coded:
        texts = [unquote(coded)] if coded.count("%") >= MIN_ESCAPES else []
    elif coded[0] == "&":
        texts = [unescape(coded)]
    elif coded[0] == "\\":
        texts = ["".join(chr(int(digits, 16)) for digits in re.split(r"\\[xu]", coded)[1:])]
    else:
        texts = [bytes.fromhex(coded).decode("latin-1")] if _HEX.fullmatch(coded) else []
        standard = coded.replace("-", "+").replace("_", "/")
        for padded in (standard[: len(standard) // 4 * 4], standard + "=" * (-len(standard) % 4)):
            try:
                texts.append(b64decode(padded).decode("latin-1"))
            except (Base64Error, ValueError):
                continue
    for text in dict.fromkeys(texts):
        if text.isascii() and text.translate(_LINES).isprintable():
            yield text
