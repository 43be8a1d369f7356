"""Page layout: headers, languages, assets and error pages."""

from __future__ import annotations

import re
from gzip import decompress as gunzip

import pytest

from directory_server.web import pages
from directory_server.web.pages._layout import templates

from ..browsers import Browser, account_of
from ..conftest import POSTGRES_ID, Server
from .conftest import GetPage


def test_pages_have_security_headers(get_page: GetPage) -> None:
    response = get_page("/nowhere")
    policy = dict(part.strip().partition(" ")[::2] for part in response.headers["Content-Security-Policy"].split(";"))
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "connect-src": "'self'",
        "img-src": "'self'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
    }
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["X-Frame-Options"] == "DENY"
    assert response.headers["Referrer-Policy"] == "same-origin"
    assert "camera=()" in response.headers["Permissions-Policy"]
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"


def test_pages_have_no_inline_script_or_style(get_page: GetPage) -> None:
    text = get_page("/nowhere").body.decode()
    assert "<style" not in text
    assert not re.search(r"<script(?! src=\"/assets/script\.)", text)
    assert not re.search(r"\s(style|on\w+)=", text)


@pytest.mark.parametrize("prefix", ["mcpd_", "mcpp_"])
@pytest.mark.parametrize("path", ["/nowhere?token=", "/nowhere?q=x&", "/?token="])
def test_a_key_in_the_url_is_not_in_the_links_of_the_page(get_page: GetPage, prefix: str, path: str) -> None:
    text = get_page(f"{path}{prefix}{'a1' * 19}").body.decode()
    assert "lang=" in text
    assert "a1a1" not in text


def test_assets_are_cached_permanently(get_page: GetPage, server: Server) -> None:
    paths = set(re.findall(r"/assets/[\w.]+", get_page("/nowhere").body.decode()))
    assert {path.rpartition(".")[2] for path in paths} == {"css", "js", "svg"}
    for path in paths:
        response = server.get(path, key=None)
        assert response.status == 200
        assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert response.headers["Content-Type"].split("; ")[0] in {"text/css", "text/javascript", "image/svg+xml"}


@pytest.mark.parametrize("name", ["style.css", "..%2F_layout.py", "%2e%2e", "style.000000000000.css"])
def test_unknown_assets_are_not_found(server: Server, name: str) -> None:
    assert server.get(f"/assets/{name}", key=None).status == 404


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/nowhere", 404), ("GET", "//nowhere", 404), ("POST", "/assets/x", 405)]
)
def test_browsers_get_error_pages(get_page: GetPage, method: str, path: str, status: int) -> None:
    response = get_page(path, method)
    assert response.status == status
    assert response.body.startswith(b"<!doctype html>")
    assert "Allow" in response.headers or status != 405


@pytest.mark.parametrize("path", ["/api/open/v1/nothing", "/api/open/v1/search", "/api/open/mcp", "/.well-known/x"])
def test_api_paths_return_json_errors_to_browsers(get_page: GetPage, path: str) -> None:
    response = get_page(path)
    assert response.headers["Content-Type"] == "application/json"
    assert response.json


def test_the_language_follows_accept_language(get_page: GetPage) -> None:
    assert '<html lang="en">' in get_page("/nowhere").body.decode()
    assert '<html lang="zh">' in get_page("/nowhere", Accept_Language="zh-CN,en;q=0.5").body.decode()


def test_the_selected_language_is_stored_in_a_cookie(get_page: GetPage) -> None:
    response = get_page("/nowhere?lang=zh&a=%22%3E", Accept_Language="en")
    page = response.body.decode()
    assert '<html lang="zh">' in page
    assert 'href="?a=%22%3E&amp;lang=en"' in page
    cookie = response.headers["Set-Cookie"]
    assert cookie.startswith("lang=zh;")
    assert "SameSite=lax" in cookie
    stored = get_page("/nowhere", Accept_Language="en", Cookie="lang=zh")
    assert '<html lang="zh">' in stored.body.decode()
    assert "Set-Cookie" not in stored.headers


@pytest.mark.parametrize("where", [{"path": "/x?lang=%ff%fe"}, {"path": "/x", "Cookie": "lang=\xff"}])
def test_unknown_languages_are_ignored(get_page: GetPage, where: dict[str, str]) -> None:
    assert '<html lang="en">' in get_page(**where).body.decode()


@pytest.mark.parametrize("path", ["/", "/?q=postgres", f"/servers/{POSTGRES_ID}", "/docs/browse"])
def test_public_pages_are_compressed_for_clients_that_accept_it(get_page: GetPage, path: str) -> None:
    plain, small = get_page(path), get_page(path, Accept_Encoding="br, gzip;q=0.5")
    assert small.headers["Content-Encoding"] == "gzip"
    assert int(str(small.headers["Content-Length"])) == len(small.body) < len(plain.body) / 2
    assert gunzip(small.body) == plain.body
    for response in (plain, small):
        assert "Accept-Encoding" in str(response.headers["Vary"])
    assert plain.headers["Content-Encoding"] is None
    assert get_page(path, "HEAD", Accept_Encoding="gzip").headers["Content-Encoding"] == "gzip"


@pytest.mark.parametrize("path", ["/account/sign-in", f"/servers/{POSTGRES_ID}/report", "/nowhere"])
def test_pages_with_forms_and_errors_are_not_compressed(get_page: GetPage, path: str) -> None:
    assert get_page(path, Accept_Encoding="gzip").headers["Content-Encoding"] is None


def test_static_files_are_compressed_once(get_page: GetPage) -> None:
    for path in re.findall(r'"(/assets/[^"#]*)', get_page("/").body.decode()):
        plain, small = get_page(path), get_page(path, Accept_Encoding="gzip")
        assert small.headers["Content-Encoding"] == "gzip"
        assert gunzip(small.body) == plain.body
        assert plain.headers["Vary"] == small.headers["Vary"] == "Accept-Encoding"


@pytest.mark.parametrize(
    ("accepted", "is_accepted"),
    [
        ("gzip", True),
        ("GZIP", True),
        ("x-gzip", True),
        ("deflate, gzip;q=0.001", True),
        ("*", True),
        ("br;q=1.0, *;q=0.1", True),
        ("", False),
        ("br", False),
        ("identity", False),
        ("gzip;q=0", False),
        ("gzip; q=0.000, *", False),
        ("*;q=0", False),
        ("gzip;q=nan", False),
        ("gzip;q=", False),
        ("gzip;level=9", False),
        ("gzipped", False),
    ],
)
def test_the_accepted_codings_decide(get_page: GetPage, accepted: str, is_accepted: bool) -> None:
    response = get_page("/", Accept_Encoding=accepted)
    assert (response.headers["Content-Encoding"] == "gzip") == is_accepted


def test_all_templates_are_compiled_before_their_first_page(monkeypatch: pytest.MonkeyPatch) -> None:
    pages.preload("off", "/test", (), pages.OWN)
    monkeypatch.setattr("jinja2.Environment.compile", lambda *_: pytest.fail("a template was compiled"))
    _, environment = templates(False, False, "/test", (), pages.OWN)
    assert environment.get_template("search.html")


def test_an_error_page_has_the_sign_in_for_visitors_and_the_keys_for_members(server: Server) -> None:
    visitor = Browser(server)
    visitor.get("/nowhere")
    assert 'href="/account/sign-in"' in visitor.page
    assert 'href="/account/keys"' not in visitor.page
    visitor.get("/account/sign-in")
    visitor.get("/nowhere")
    assert 'href="/account/sign-in"' in visitor.page
    account_of(server)
    assert visitor.sign_in().status == 303
    visitor.get("/nowhere")
    assert 'href="/account/keys"' in visitor.page
