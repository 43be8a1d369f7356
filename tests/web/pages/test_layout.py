"""What all pages have in common: heads, languages, files, and pages that say what is wrong."""

from __future__ import annotations

import re

import pytest

from ..conftest import Server
from .conftest import Look


def test_a_page_may_load_nothing_from_elsewhere_and_be_in_no_other(look: Look) -> None:
    answer = look("/nowhere")
    policy = dict(part.strip().partition(" ")[::2] for part in answer.headers["Content-Security-Policy"].split(";"))
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
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["Referrer-Policy"] == "same-origin"
    assert "camera=()" in answer.headers["Permissions-Policy"]
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"


def test_a_page_has_no_script_or_style_in_itself(look: Look) -> None:
    text = look("/nowhere").body.decode()
    assert "<style" not in text
    assert not re.search(r"<script(?! src=\"/assets/script\.)", text)
    assert not re.search(r"\s(style|on\w+)=", text)


def test_the_files_of_a_page_are_kept_by_browsers_for_good(look: Look, server: Server) -> None:
    paths = set(re.findall(r"/assets/[\w.]+", look("/nowhere").body.decode()))
    assert {path.rpartition(".")[2] for path in paths} == {"css", "js", "svg"}
    for path in paths:
        answer = server.get(path, key=None)
        assert answer.status == 200
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert answer.headers["Content-Type"].split("; ")[0] in {"text/css", "text/javascript", "image/svg+xml"}


@pytest.mark.parametrize("name", ["style.css", "..%2F_layout.py", "%2e%2e", "style.000000000000.css"])
def test_there_are_no_other_files(server: Server, name: str) -> None:
    assert server.get(f"/assets/{name}", key=None).status == 404


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/nowhere", 404), ("GET", "//nowhere", 404), ("POST", "/assets/x", 405)]
)
def test_people_are_told_what_is_wrong_on_a_page(look: Look, method: str, path: str, status: int) -> None:
    answer = look(path, method)
    assert answer.status == status
    assert answer.body.startswith(b"<!doctype html>")
    assert "Allow" in answer.headers or status != 405


def test_programs_are_told_in_json(server: Server) -> None:
    assert server.get("/nowhere", key=None).json["error"] == "not_found"


@pytest.mark.parametrize("path", ["/api/open/v1/nothing", "/api/open/v1/search", "/api/open/mcp", "/.well-known/x"])
def test_the_doors_of_programs_answer_json_to_browsers_too(look: Look, path: str) -> None:
    answer = look(path)
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json


def test_a_preflight_is_no_page(look: Look) -> None:
    assert look("/assets/x", "OPTIONS").status == 204


def test_head_answers_as_get_without_a_body(look: Look) -> None:
    answer = look("/nowhere", "HEAD")
    assert answer.status == 404
    assert answer.body == b""
    assert int(answer.headers["Content-Length"]) > 0


def test_a_page_is_in_the_language_that_the_browser_asks_for(look: Look) -> None:
    assert '<html lang="en">' in look("/nowhere").body.decode()
    assert '<html lang="zh">' in look("/nowhere", Accept_Language="zh-CN,en;q=0.5").body.decode()


def test_a_language_that_is_chosen_is_kept(look: Look) -> None:
    answer = look("/nowhere?lang=zh&a=%22%3E", Accept_Language="en")
    page = answer.body.decode()
    assert '<html lang="zh">' in page
    assert 'href="?a=%22%3E&amp;lang=en"' in page
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith("lang=zh;")
    assert "SameSite=lax" in cookie
    kept = look("/nowhere", Accept_Language="en", Cookie="lang=zh")
    assert '<html lang="zh">' in kept.body.decode()
    assert "Set-Cookie" not in kept.headers


@pytest.mark.parametrize("where", [{"path": "/x?lang=%ff%fe"}, {"path": "/x", "Cookie": "lang=\xff"}])
def test_a_language_that_there_is_not_is_passed_over(look: Look, where: dict[str, str]) -> None:
    assert '<html lang="en">' in look(**where).body.decode()
