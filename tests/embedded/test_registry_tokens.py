from __future__ import annotations

import pytest
from twisted.internet.task import Clock

from directory_server.embedded import SqliteRegistryTokens, finished
from directory_server.errors import BadInput, NotFound

from .conftest import Open


@pytest.fixture
def tokens(open_database: Open) -> SqliteRegistryTokens:
    clock = Clock()
    clock.advance(1_000_000)
    return SqliteRegistryTokens(open_database("directory"), clock.seconds)


def test_a_token_opens_until_it_is_revoked(tokens: SqliteRegistryTokens) -> None:
    made, secret = finished(tokens.create("editors"))
    assert (made.label, made.last_four, made.created_at) == ("editors", secret[-4:], 1_000_000)
    assert len(secret) == 32
    assert finished(tokens.find(secret)) == made
    assert finished(tokens.find(secret.upper() + "x")) is None
    assert finished(tokens.find("\udcff")) is None
    finished(tokens.revoke(made.id))
    assert finished(tokens.find(secret)) is None
    assert [each.revoked_at for each in finished(tokens.list())] == [1_000_000]


def test_what_cannot_be_is_refused(tokens: SqliteRegistryTokens) -> None:
    with pytest.raises(NotFound, match="No token has the id 'abc'"):
        finished(tokens.revoke("abc"))
    with pytest.raises(BadInput, match="label: must be 1 to 100"):
        finished(tokens.create("\n"))


def test_the_secret_is_not_kept(tokens: SqliteRegistryTokens, open_database: Open) -> None:
    _, secret = finished(tokens.create("editors"))
    with open_database("directory").connection() as connection:
        assert secret not in "".join(connection.iterdump())
