"""Name, sentence, logo and accent colour that an operator sets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from directory_server.composition._people import brand_of
from directory_server.config import Config, ConfigError, WebConfig, load
from directory_server.web.pages import OWN, Assets, Brand
from directory_server.web.pages._assets import CONTRAST, MAX_LOGO, _color, _contrast
from directory_server.web.pages._layout import templates
from directory_server.web.pages._translations import LANGUAGES
from directory_server.web.pages._translations import load as load_texts

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


def test_name_and_sentence_replace_those_of_all_languages() -> None:
    texts = load_texts((), Brand("Acme {tools}", "For the engineers of Acme."))
    for language in LANGUAGES:
        assert texts[language]("site.name") == "Acme {tools}"
        assert texts[language]("site.about") == "For the engineers of Acme."
    assert load_texts((), OWN)["en"]("site.name") == "MCP directory"


@pytest.mark.parametrize(
    ("content", "suffix"),
    [
        (PNG, "png"),
        (b"\xff\xd8\xff\xe0", "jpg"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "webp"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "svg"),
        (b'\xef\xbb\xbf<?xml version="1.0"?>\n<svg/>', "svg"),
    ],
)
def test_a_logo_is_served_in_place_of_the_icon(tmp_path: Path, content: bytes, suffix: str) -> None:
    path = tmp_path / "logo"
    path.write_bytes(content)
    brand = Brand.of("", "", str(path), "")
    assets, environment = templates(True, True, "", (), brand)
    assert re.fullmatch(rf"/assets/logo\.[0-9a-f]{{12}}\.{suffix}", assets.path("logo"))
    assert Assets().path("logo") == Assets().path("icon.svg")
    assert environment.globals["asset"]("logo") == assets.path("logo")  # type: ignore[operator]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<html><svg>", "must be a PNG, JPEG, WebP or SVG image"),
        (b"", "must be a PNG, JPEG, WebP or SVG image"),
        (PNG + bytes(MAX_LOGO), "must have at most 262,144 bytes"),
        (None, "cannot be read: No such file or directory"),
    ],
)
def test_a_logo_that_cannot_be_used_is_an_error_of_the_setting(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    path = tmp_path / "logo"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=rf"web\.logo: .*{message}"):
        brand_of(Config(web=WebConfig(logo=str(path))))


@pytest.mark.parametrize("accent", ["#000000", "#ffffff", "#ffff00", "#808080", "#0B6670", "#ff00ff"])
def test_text_in_the_accent_colour_can_be_read(accent: str) -> None:
    style = Brand(accent=accent).style
    colors = [tuple(map(_color, each)) for each in re.findall(r"--accent: (#\w+);.* --tint: (#\w+);", style)]
    assert len(colors) == 2
    for (own, tint), ground in zip(colors, ("#eef0ed", "#2a353b"), strict=True):
        assert _contrast(own, _color(ground)) >= CONTRAST
        assert _contrast(own, tint) >= CONTRAST


@pytest.mark.parametrize(
    "setting", ["web.accent=teal", "web.accent=#12345", "web.name=" + "x" * 41, "web.about=a\u202eb"]
)
def test_settings_of_the_look_are_checked(setting: str) -> None:
    with pytest.raises(ConfigError, match=setting.partition("=")[0]):
        load(file=None, environ={}, settings=[setting])
