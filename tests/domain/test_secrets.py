"""Ids, secrets and their digests."""

from __future__ import annotations

import re

from directory_server.domain.keys import (
    digest,
    is_key_secret,
    new_id,
    new_key_secret,
    new_registry_secret,
    new_token,
)


def test_ids_and_secrets_have_their_formats() -> None:
    assert re.fullmatch(r"[2-9a-km-z]{8}", new_id())
    assert re.fullmatch(r"mcpd_[0-9A-Za-z]{38}", new_key_secret())
    assert re.fullmatch(r"[0-9a-z]{32}", new_registry_secret())
    assert re.fullmatch(r"[0-9A-Za-z_-]{43}", new_token())


def test_the_checksum_of_a_key_never_changes() -> None:
    # Keys that were issued in the past must stay valid.
    assert is_key_secret("mcpd_" + "0" * 32 + "4Gn1qJ")


def test_the_checksum_of_a_key_detects_every_wrong_character() -> None:
    secret = new_key_secret()
    assert is_key_secret(secret)
    for index in range(len(secret)):
        assert not is_key_secret(secret[:index] + ("x" if secret[index] != "x" else "y") + secret[index + 1 :])


def test_other_texts_are_not_keys() -> None:
    secret = new_key_secret()
    for text in ("", "mcpd_", secret[:-1], secret + "0", f" {secret}", f"{secret}\n", "é" * 43):
        assert not is_key_secret(text)


def test_a_digest_accepts_any_text() -> None:
    assert len({digest(text) for text in ("", "a", "é")}) == 3
    assert len(digest("\udcff")) == 32
