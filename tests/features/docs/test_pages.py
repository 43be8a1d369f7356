"""The pages at /docs: contents, documents, the REST API, and access."""

from __future__ import annotations

import re
import shlex
from html import unescape
from urllib.parse import quote

import pytest
from markupsafe import escape

from directory_server.features.docs import web
from directory_server.features.docs.search import Contents, contents, find
from directory_server.web.account import input_prefix

from ...web.conftest import Response, Server, entry

HTML = {"Accept": "text/html"}


def page(server: Server, path: str, **headers: str) -> Response:
    return server.get(path, key=None, headers={**HTML, **headers})


def test_contents_have_three_parts_with_a_line_for_each_document_once(server: Server) -> None:
    text = page(server, "/docs").body.decode()
    assert re.findall(r"<h2[^>]*>([^<]*)</h2>", text) == ["Use", "Operate", "Develop"]
    links = re.findall(r'<a href="/docs/([^"]*)">', text)
    assert len(links) == len(set(links)) == 13
    assert links[0] == "connect"
    for document in contents().pages.values():
        assert (document.summary != "") == (document.part != "")
        assert document.path != document.parent or str(escape(document.summary)) in text


def test_documents_of_users_show_the_url_of_the_server(server: Server) -> None:
    text = page(server, "/docs/connect", Host="localhost:18090").body.decode()
    assert "mcp-directory http://localhost:18090/api/open/mcp --header" in text
    assert 'href="http://localhost:18090/account/connect"' in text
    assert "127.0.0.1:8080" not in text
    assert input_prefix("http://localhost:18090/api/open/mcp") in text
    assert input_prefix("http://127.0.0.1:8080/api/open/mcp") not in text
    assert "http://127.0.0.1:8080" in page(server, "/docs/start", Host="localhost:18090").body.decode()


@pytest.mark.parametrize("path", ["operations", "protocol", "architecture"])
def test_the_first_page_of_a_document_lists_its_sections_once(server: Server, path: str) -> None:
    text = page(server, f"/docs/{path}").body.decode()
    links = re.findall(rf'href="/docs/{path}/([\w-]+)[#"]', text)
    assert len(links) > 5
    assert len(links) == len(set(links))


@pytest.mark.parametrize("path", ["start", "operations/back-up", "decisions", "decisions/0015-exact-quota"])
def test_a_document_is_a_page(server: Server, path: str) -> None:
    response = page(server, f"/docs/{path}")
    assert response.status == 200
    assert len(response.body) < 30_000
    assert contents().pages[path].html in response.body.decode()


def test_every_page_is_small(server: Server) -> None:
    for path in [*contents().pages, "api", "api/objects", "api/publishing"]:
        server.clock.advance(1)
        assert len(page(server, f"/docs/{path}").body) < 36_000, path


def test_a_section_shows_the_other_sections_of_its_document(server: Server) -> None:
    text = page(server, "/docs/operations/back-up").body.decode()
    assert '<a href="/docs/operations/back-up" aria-current="page">' in text
    assert '<a href="/docs/operations/metrics">' in text
    assert '<a href="/docs/protocol/keys">' not in text


def test_pages_are_found_by_words_of_title_and_text(server: Server) -> None:
    text = page(server, "/docs?q=Back+UP").body.decode()
    results = re.findall(r'<li><a href="/docs/([^"]*)">', text.partition('class="similar"')[2].partition("</ul>")[0])
    assert results[0] == "operations/back-up"
    assert 1 < len(results) <= 20
    assert "<h2" in text
    assert 'name="robots" content="noindex"' in text
    one, both = (find(contents(), words) for words in ("nginx", "nginx HAProxy"))
    assert {each.path for each in both} <= {each.path for each in one}
    for each in both:
        assert {"nginx", "haproxy"} <= set(re.findall(r"\w+", contents().pages[each.path].text.lower()))


def test_searches_of_pages_are_bounded_and_escaped(server: Server) -> None:
    hostile = "<script>alert(1)</script>"
    text = page(server, f"/docs?q={quote(hostile)}").body.decode()
    assert hostile not in text
    assert "No page with" in text
    assert page(server, "/docs?q=%ff%00").status == 200
    every = find(contents(), "e")
    assert len(every) == 20
    assert all(len(each.excerpt) < 300 for each in every)
    assert find(contents(), " ") == []
    assert len(page(server, f"/docs?q={'x' * 5_000}").body) < 10_000


def test_an_unknown_page_is_not_found(server: Server) -> None:
    for path in ("nowhere", "../README.md", "%2e%2e/setup.py", "operations/"):
        assert page(server, f"/docs/{path}").status == 404


def test_the_api_page_has_every_operation_parameter_response_and_field(server: Server) -> None:
    paths = ("/docs/api", "/docs/api/objects", "/docs/api/publishing")
    text = unescape("".join(page(server, path).body.decode() for path in paths))
    words = re.sub("</?code>", "`", text)
    document = page(server, "/api/open/openapi.json").json
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert f"<code>{method.upper()} {path}</code>" in text
            assert operation["summary"] in text
            for parameter in operation.get("parameters", ()):
                assert f"<code>{parameter['name']}</code>" in text
                assert parameter["description"] in words
            for response in operation["responses"].values():
                assert response["description"] in words
    for name, schema in document["components"]["schemas"].items():
        for field, member in schema.get("properties", {}).items():
            assert f'id="{name}"' in text
            assert f"<code>{field}</code>" in text
            assert member.get("description", "") in words


def test_the_first_example_of_the_api_works_as_pasted(server: Server) -> None:
    host = "localhost:18090"
    text = unescape(page(server, "/docs/api", Host=host).body.decode())
    example = re.search(r"<pre><code[^>]*>(.*?)</code></pre>", text)
    assert example
    assert shlex.split(example[1])[:2] == ["curl", "-H"]
    header, url = shlex.split(example[1].replace("$KEY", server.key))[2:]
    assert url.startswith(f"http://{host}/")
    name, _, value = header.partition(": ")
    assert server.get(url.removeprefix(f"http://{host}"), key=None, headers={name: value}).status == 200


def test_the_example_of_an_entry_names_one_of_the_sample_and_the_official_registry(server: Server) -> None:
    server.publish(entry("io.github.github/github-mcp-server"))
    text = unescape(page(server, "/docs/api", Host="localhost").body.decode())
    assert "/api/open/v1/search?keywords=" in text
    assert "&fields=mcp_id,name,server_name" in text
    (path,) = re.findall(r'"http://localhost(/api/open/v1/entries/[^"]*)"', text)
    assert server.get(path).status == 200


def test_pages_in_chinese_say_which_parts_are_english(server: Server) -> None:
    text = page(server, "/docs/start?lang=zh").body.decode()
    assert '<html lang="zh">' in text
    assert '<article class="docs-page" lang="en">' in text


@pytest.mark.parametrize("server", ["off"], indirect=True)
def test_documentation_is_off_with_the_pages(server: Server) -> None:
    assert page(server, "/docs").status == page(server, "/docs/start").status == page(server, "/docs/api").status == 404


@pytest.mark.parametrize("server", ["accounts"], indirect=True)
def test_documentation_needs_no_sign_in(server: Server) -> None:
    assert page(server, "/docs/start").status == 200
    assert "ada@example.org" in page(server, "/docs/start", Cookie="test=ada").body.decode()


def test_documentation_has_the_rate_limit_of_pages(server: Server) -> None:
    statuses = [page(server, "/docs").status for _ in range(61)]
    assert statuses == [200] * 60 + [429]


def test_a_package_without_pages_has_the_api_only(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "contents", lambda: Contents({}, {}))
    assert page(server, "/docs").status == page(server, "/docs/api").status == 200
    assert page(server, "/docs/start").status == 404


def test_images_of_documents_are_served(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "contents", lambda: Contents({}, {"plot.svg": b"<svg/>"}))
    response = page(server, "/docs/plot.svg")
    assert (response.headers["Content-Type"], response.body) == ("image/svg+xml", b"<svg/>")


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("backup", "operations/back-up"),
        ("restore a backup", "operations/back-up"),
        ("rotate key", "operations/keys"),
        ("how do I delete a key?", "operations/keys"),
        ("how do I raise the limit", "operations/keys"),
        ("nginx", "operations/tls-and-proxies"),
        ("oidc entra", "operations/single-sign-on-sso"),
        ("sso", "operations/single-sign-on-sso"),
        ("how do I invite users", "operations/accounts"),
        ("uninstall", "operations/uninstall"),
        ("hide an entry", "operations/curate"),
        ("cursor", "connect"),
        ("docker", "operations/containers"),
        ("follow the official registry", "operations/follow-other-registries"),
        ("upgrade", "operations/upgrade"),
        ("prometheus", "operations/metrics"),
        ("audit log", "operations/audit-log"),
        ("webhook", "operations/webhooks"),
        ("quota 401", "protocol/keys"),
        ("postgres", "operations/several-machines"),
        ("several machines", "operations/several-machines"),
        ("high availability", "operations/several-machines"),
        ("first day", "operations/first-day"),
        ("smtp", "operations/accounts"),
        ("personal data", "operations/accounts"),
        ("alerts", "operations/metrics"),
        ("tls certificate", "operations/tls-and-proxies"),
        ("reverse proxy", "operations/tls-and-proxies"),
        ("disk full", "operations/storage-faults"),
        ("limits", "operations/limits-and-sizing"),
        ("kubernetes", "operations/containers"),
        ("offline mirror", "offline"),
        ("import file", "operations/import"),
        ("access log json", "operations/access-log"),
        ("approve account", "operations/accounts"),
    ],
)
def test_a_question_has_its_answer_first(question: str, path: str) -> None:
    assert find(contents(), question)[0].path.partition("#")[0] == path
