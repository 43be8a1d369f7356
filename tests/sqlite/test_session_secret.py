from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from directory_server.domain.errors import Unavailable
from directory_server.sqlite import _session_secret, session_secret


def test_makes_a_secret_once_for_its_owner_alone(tmp_path: Path) -> None:
    secret = session_secret(tmp_path)
    assert len(secret) == 32
    assert session_secret(tmp_path) == secret
    assert (tmp_path / "session.secret").stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ["session.secret"]


def test_makes_another_in_another_folder(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    assert session_secret(tmp_path) != session_secret(tmp_path / "other")


def test_takes_the_secret_of_a_process_that_was_faster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = _session_secret._make

    def too_late(path: Path) -> None:
        path.write_bytes(b"F" * 32)
        make(path)

    monkeypatch.setattr(_session_secret, "_make", too_late)
    assert session_secret(tmp_path) == b"F" * 32
    assert os.listdir(tmp_path) == ["session.secret"]


def test_gives_all_that_ask_at_once_the_same(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(session_secret, [tmp_path] * 32))) == 1


@pytest.mark.parametrize("size", [0, 31, 33])
def test_refuses_a_secret_of_another_length(tmp_path: Path, size: int) -> None:
    (tmp_path / "session.secret").write_bytes(b"x" * size)
    with pytest.raises(Unavailable, match=rf"session\.secret must hold 32 bytes and holds {size}"):
        session_secret(tmp_path)


def test_says_so_when_it_cannot_be_made(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"session\.secret cannot be read or created: No such file or directory"):
        session_secret(tmp_path / "absent")
