"""Categories of servers: a short list of our own, to which the categories and tags of publishers are mapped by rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

MAX_CATEGORIES = 3
"""Categories of an entry."""

MAX_LABELS = 20
"""Categories, and tags, of a publisher that are read."""

MAX_LABEL = 100
"""Characters of a label that are read."""

_RULES: Mapping[str, str] = {
    "development": "developer, dev, devtool, development, code, coding, programming, git, github, gitlab, "
    "version control, sdk, framework, build, debugging, testing, architecture design, software, ide, "
    "documentation, static analysis, code analysis, 开发, 代码, 版本控制, 개발",
    "system": "command line, cli, terminal, shell, operating system, system tool, os automation, code execution, "
    "sandbox, sandboxing, 命令行",
    "ai": "ai, llm, agent, ai agent, agentic, machine learning, multi agent, assistant, conversational ai, "
    "coding agent, prompt, prompt engineering, simulation, data labeling, virtual assistant, reasoning, "
    "ai system, 人工智能, 大模型",
    "knowledge": "knowledge, memory, rag, ai memory, agent memory, note taking, note, knowledge base, "
    "knowledge graph, semantic search, vector search, obsidian, embedding, wiki, 知识, 记忆",
    "apis": "api, http request, web service, aggregator, gateway, openapi, mcp client, llm bridge, automation, "
    "workflow, workflow automation, reference server, service discovery",
    "cloud": "cloud, infrastructure, devops, deployment, build deployment, ci cd, kubernetes, docker, aws, azure, "
    "monitoring, observability, logging, cost management, serverless, dns, 云, 监控",
    "databases": "database, sql, postgresql, postgres, mysql, sqlite, mongodb, data warehouse, 数据库, 데이터베이스",
    "data": "data, data api, data analytics, analytics, data analysis, business intelligence, data visualization, "
    "data platform, data science, open data, statistics, math statistics, forecasting, 数据分析, 数据, 可视化, "
    "공공데이터",
    "search": "search, web search, search engine, data extraction, search extraction, search data extraction, "
    "research assistant, 搜索, 검색",
    "browser": "browser, browser automation, web scraping, scraping, crawling, web crawling, web data extraction, "
    "playwright, puppeteer, 浏览器, 爬虫, 브라우저",
    "files": "file, file system, filesystem, file management, document, document processing, pdf, file conversion, "
    "markdown, ocr, spreadsheet, storage, 文件, 文档, 파일",
    "media": "media, multimedia, image, video, audio, music, speech, text to speech, speech to text, "
    "speech recognition, podcast, content creation, content management, cms, media creation, media processing, "
    "design, design ui, image generation, video platform, 多媒体, 内容创作, 图像, 视频, 이미지",
    "productivity": "productivity, task, project management, task management, project, calendar, scheduling, "
    "workplace, professional app, tasks calendar, product management, utility, office, 效率, 办公, 项目管理, "
    "생산성",
    "communication": "communication, messaging, email, chat, collaboration, phone call, outbound phone call, slack, "
    "discord, telegram, translation, translation service, language translation, 通讯, 通信, 邮件, 协作, 메시지, "
    "한국어",
    "business": "business, crm, erp, sales, hr, recruiting, customer data, support service, customer support, "
    "e commerce, ecommerce, commerce, retail, shopping, real estate, delivery, crm sale, market intelligence, "
    "商业, 电商, 커머스, 부동산",
    "marketing": "marketing, social media, advertising, seo, digital marketing, marketing analytics, social, 营销, "
    "社交媒体, 社交",
    "finance": "finance, financial, fintech, crypto, cryptocurrency, blockchain, stock, stock market, trading, "
    "payment, defi, web3, banking, accounting, tax, exchange, 金融, 加密货币, 股市, 금융, 세금",
    "security": "security, secops, vulnerability, identity, authentication, cryptography, privacy, compliance, "
    "安全, 보안",
    "science": "science, research, scientific, education, learning, academic, academic research, environment, "
    "aerospace, research science, science research, 科学, 科研, 教育, 교육, 환경",
    "health": "health, healthcare, medical, medicine, biology, bioinformatic, life science, fitness, wellness, "
    "医疗, 健康, 의료",
    "maps": "map, location, geospatial, geolocation, weather, travel, transportation, transport, location service, "
    "地图, 位置, 天气, 旅行, 出行, 날씨, 교통, 지도",
    "devices": "iot, hardware, embedded, smart home, home automation, device, device control, robotic, industrial, "
    "物联网, 硬件, 智能家居",
    "culture": "game, gaming, sport, art, culture, entertainment, news, lifestyle, game development, spirituality, "
    "boating, 游戏, 艺术, 文化, 体育, 新闻, 게임, 문화",
    "law": "law, legal, government, regulation, legal compliance, public data, 法律, 政府, 법령, 행정",
}
"""The categories in their order, and the words that publishers use for each."""

CATEGORIES: Sequence[str] = tuple(_RULES)
"""The names of the categories, which are values of the filter `category`."""

_FILLERS = frozenset({"and", "the", "of", "for"})
"""Words of labels that separate nothing."""


def categories_of(categories: Iterable[str], tags: Iterable[str]) -> Sequence[str]:
    """Return the names of the categories of an entry, at most MAX_CATEGORIES, from those that its publisher gives.

    Tags count only if no category is known: a publisher has many. "ai" comes last among them, because most have it.
    """
    found = dict.fromkeys(name for label in _first(categories) if (name := category_of(label)))
    if not found:
        tagged = dict.fromkeys(_PHRASES.get(" ".join(_words(tag)), "") for tag in _first(tags))
        found = dict.fromkeys(sorted(filter(None, tagged), key=lambda name: name == "ai"))
    return tuple(found)[:MAX_CATEGORIES]


# The labels of publishers are few. The cache takes at most about 1 MB.
@lru_cache(maxsize=4_096)
def category_of(label: str) -> str:
    """Return the name of the category of a publisher's label: that of its longest known words, empty if none is."""
    words = _words(label)
    for size in range(min(_LONGEST, len(words)), 0, -1):
        for start in range(len(words) - size + 1):
            known = _PHRASES.get(" ".join(words[start : start + size]))
            if known is not None:
                return known
    return next((name for phrase, name in _UNSEGMENTED.items() if phrase in label[:MAX_LABEL]), "")


def _first(labels: Iterable[str]) -> Iterator[str]:
    return (label for _, label in zip(range(MAX_LABELS), labels, strict=False))


def _words(label: str) -> Sequence[str]:
    """Return the words of a label in lower case, without plural endings and fillers."""
    words = (_singular(word) for word in re.findall(r"[^\W_]+", label[:MAX_LABEL].casefold()))
    return [word for word in words if word not in _FILLERS]


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    is_plural = word.endswith("s") and not word.endswith(("ss", "us", "is", "ops", "ics")) and len(word) > 3
    return word[:-1] if is_plural else word


_PHRASES = {" ".join(_words(phrase)): name for name, phrases in _RULES.items() for phrase in phrases.split(", ")}

_LONGEST = max(len(phrase.split()) for phrase in _PHRASES)

_UNSEGMENTED = {phrase: name for phrase, name in _PHRASES.items() if not phrase.isascii()}
