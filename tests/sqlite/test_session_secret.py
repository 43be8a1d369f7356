"""Session secret: created once per data directory, readable by its owner only."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from directory_server.domain.errors import Unavailable
from directory_server.sqlite import _data_directory, session_secret


def test_creates_a_secret_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    secret = session_secret(tmp_path)
    assert len(secret) == 32
    assert session_secret(tmp_path) == secret
    assert (tmp_path / "session.secret").stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ["session.secret"]


def test_each_folder_has_its_own_secret(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    assert session_secret(tmp_path) != session_secret(tmp_path / "other")


def test_uses_the_secret_that_another_process_created_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create = _data_directory._make

    def create_second(path: Path) -> None:
        path.write_bytes(b"F" * 32)
        create(path)

    monkeypatch.setattr(_data_directory, "_make", create_second)
    assert session_secret(tmp_path) == b"F" * 32
    assert os.listdir(tmp_path) == ["session.secret"]


def test_concurrent_callers_get_the_same_secret(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(session_secret, [tmp_path] * 32))) == 1


@pytest.mark.parametrize("size", [0, 31, 33])
def test_rejects_a_secret_of_the_wrong_length(tmp_path: Path, size: int) -> None:
    (tmp_path / "session.secret").write_bytes(b"x" * size)
    with pytest.raises(Unavailable, match=rf"session\.secret must hold 32 bytes and holds {size}"):
        session_secret(tmp_path)


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"session\.secret cannot be read or created: No such file or directory"):
        session_secret(tmp_path / "absent")
