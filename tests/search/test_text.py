from __future__ import annotations

from directory_server.search.text import MAX_KEY, MAX_TEXT, MAX_TOKEN, is_unspaced, key, phrase, runs, stem, tokens

TEXTS = {
    "Reads your mail, twice!": "reads your mail twice",
    "home-assistant": "home assistant homeassistant",
    "snake_case ab/cd 1-2": "snake case snakecase ab cd abcd 1 2 12",
    "v1.2.3 10.0.0.0/8 127.0.0.1 1.2 2024.": "v1.2.3 10.0.0.0/8 127.0.0.1 1.2 2024",
    "a1.2b node1.2.3 1.2.x": "a1 2b a12b node1 2 3 node123 1 2 x 12x",
    "a.b.c.d.e": "a b c d e",
    "Café ＦＵＬＬ ﬁne Straße": "cafe full fine strasse",
    "don't": "don t",
    "读取邮件": "读取 取邮 邮件",
    "读 Obsidian笔记": "读 obsidian 笔记",
    "データ ﾃﾞｰﾀ": "デー ータ デー ータ",
    "법령을": "법령 령을",
    "ค้นหา": "ค้ ้น นห หา",
    "有価・証券": "有価 证券",
    "Привет ёлка": "привет елка",
    "मौसम पूर्वानुमान": "मौसम पूर्वानुमान",
    "الطَّقْسُ أحمد": "الطقس احمد",
    "Đặt vé ısı": "dat ve isi",
    "A股行情": "a股 股行 行情",
    "C言語 AB言語": "c言 言语 ab 言语",
    "3D 2FA": "3d 2fa",
    "a\x00b\ud800c\u202ed": "a b c d",
    "讀取郵件 与 读取邮件": "读取 取邮 邮件 与 读取 取邮 邮件",
    "an “English” text — plain…": "an english text plain",
    "a\x1fb": "a b",
    "": "",
    " -_./ …。🙂\ud800": "",
    "-a- .b": "a b",
    "C#/.NET, F# C++ Notepad++ .env": "csharp net dotnet fsharp cpp notepad notepadpp env dotenv",
    "b#c #d PR#5 a+++ C#中": "b c d pr 5 a csharp 中",
    "P&L S&P500 ATT&CK AT&T salt&pepper": "pnl p500 sp500 att ck attck at att salt pepper",
    "A/B tests, n/a": "ab tests na",
    "x?a=1&b=2 ../.git www.a/b/c ...and": "x a 1 b 2 git dotgit www a b c wwwabc and",
}


def test_tokens_of_text() -> None:
    assert {text: " ".join(tokens(text)) for text in TEXTS} == TEXTS


NAMES = {
    "fileScope": "file scope filescope",
    "GhidraMCP": "ghidra mcp ghidramcp",
    "PDFReader": "pdf reader pdfreader",
    "getHTTP_url": "get http url gethttpurl",
    "context7": "context7",
    "3DPrint": "3d print 3dprint",
    "EC2Instance": "ec2 instance ec2instance",
    "S3": "s3",
    "listAPIs": "list apis listapis",
    "PDFsToHTML": "pdfs to html pdfstohtml",
    "2FA": "2fa",
    "web3API": "web3 api web3api",
    "lower": "lower",
}


def test_names_are_split_at_camel_case() -> None:
    assert {name: " ".join(tokens(name, humps=True)) for name in NAMES} == NAMES
    assert list(tokens("GitHub")) == ["github"]


STEMS = {
    "servers": "server",
    "queries": "queri",
    "query": "queri",
    "scraping": "scrape",
    "scraper": "scraper",
    "monitoring": "monitor",
    "邮件": "邮件",
    "élan": "élan",
}


def test_english_words_are_stemmed() -> None:
    assert {word: stem(word) for word in STEMS} == STEMS


def test_tokens_and_keys_are_truncated() -> None:
    assert list(tokens("a" * 256)) == ["a" * MAX_TOKEN]
    assert [len(term) for term in tokens("-".join(["a" * 50] * 4))] == [50, 50, 50, 50, MAX_TOKEN]
    assert len(key(runs("ab " * 256, humps=True))) == MAX_KEY


def test_names_that_differ_in_spacing_have_one_key() -> None:
    names = ["Hacker News", "hacker-news", "HackerNews", "hacker_news", "ＨACKER news"]
    assert {key(runs(name, humps=True)) for name in names} == {"hackernews"}
    assert key(runs("hacker-news-mcp Server", humps=True), without=frozenset({"mcp", "server"})) == "hackernews"
    assert key(runs("读取 邮件", humps=True)) == "读取邮件"


def test_texts_are_bounded_also_after_folding() -> None:
    assert len("".join(tokens("\ufdfa " * MAX_TEXT))) <= MAX_TEXT
    assert len(phrase("\ufdfa" * 999)) <= MAX_KEY
    assert phrase("  Reads\n YOUR mail ") == "reads your mail"


def test_scripts_without_spaces_are_told() -> None:
    unspaced, others = ["邮件", "データ", "법령", "ค้", "a股"], ["mail", "погода", "मौसम", "א", "10.0.0.0/8"]
    assert [token for token in [*unspaced, *others] if is_unspaced(token)] == unspaced
