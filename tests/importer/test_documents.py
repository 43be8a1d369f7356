"""Files of entries: plain, compressed, damaged, standard input and pipes."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
import tracemalloc
from pathlib import Path

import pytest

from directory_server.importer import STDIN, Document, documents
from directory_server.serialization import MAX_ENTRY, decode, decode_entry

A, B = b'{"name":"a"}', b'{"name":"b"}'


def write_file(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return str(path)


def read_file(file: str) -> tuple[list[bytes], list[tuple[int | None, str]]]:
    """Return the bodies in a file, and its errors with their lines."""
    all_documents = list(documents(file))
    assert {document.file for document in all_documents} <= {file}
    return (
        [document.body for document in all_documents if not document.error],
        [(document.line, document.error) for document in all_documents if document.error],
    )


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.json.gz", "a"])
def test_format_is_detected_by_content_not_by_name(tmp_path: Path, name: str) -> None:
    for content in (A + b"\n" + B, b"[" + A + b"," + B + b"]", b'{"servers":[' + A + b"," + B + b"]}"):
        assert read_file(write_file(tmp_path / name, content)) == ([A, B], [])
        assert read_file(write_file(tmp_path / name, gzip.compress(content))) == ([A, B], [])


def test_gzip_files_may_be_concatenated_and_padded(tmp_path: Path) -> None:
    content = gzip.compress(A + b"\n") + b"\0" * 70_000 + gzip.compress(b"") + gzip.compress(B) + b"\0" * 9
    assert read_file(write_file(tmp_path / "a.gz", content)) == ([A, B], [])


def test_lines_of_a_truncated_gzip_file_are_read(tmp_path: Path) -> None:
    lines = b"".join(b'{"name":"%s"}\n' % os.urandom(40).hex().encode() for _ in range(5_000))
    bodies, errors = read_file(write_file(tmp_path / "a.gz", gzip.compress(lines)[:-100_000]))
    assert 1_000 < len(bodies) < 5_000
    assert lines.startswith(b"\n".join(bodies))
    assert errors == [(None, "The file is cut short: its gzip data ends too early.")]


@pytest.mark.parametrize("length", [2, 9, -9, -1])
def test_truncated_gzip_file_is_an_error(tmp_path: Path, length: int) -> None:
    assert read_file(write_file(tmp_path / "a.gz", gzip.compress(A)[:length]))[1][-1] == (
        None,
        "The file is cut short: its gzip data ends too early.",
    )


def test_damaged_gzip_file_is_an_error(tmp_path: Path) -> None:
    content = bytearray(gzip.compress(A))
    content[-6] ^= 1  # in its checksum
    [(line, error)] = read_file(write_file(tmp_path / "a.gz", bytes(content)))[1]
    assert line is None
    assert error.startswith("The file is damaged: its gzip data does not inflate (Error -3")
    assert read_file(write_file(tmp_path / "a.gz", gzip.compress(A) + b"garbage"))[1][0][1].startswith(
        "The file is damaged"
    )


def test_gzip_bomb_takes_little_memory(tmp_path: Path) -> None:
    bomb = gzip.compress(A + b'\n{"a":"' + b"x" * 30_000_000 + b'"}\n' + b" " * 30_000_000 + B, 1)
    file = write_file(tmp_path / "a.gz", bomb)
    del bomb
    tracemalloc.start()
    try:
        assert read_file(file) == ([A, B], [(2, "The entry is larger than 1,000,000 bytes.")])
        assert tracemalloc.get_traced_memory()[1] < 5 * MAX_ENTRY
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("content", [b"", b" \n\n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
def test_empty_file_is_an_error(tmp_path: Path, content: bytes) -> None:
    assert read_file(write_file(tmp_path / "a.json", content)) == ([], [(None, "The file is empty.")])


@pytest.mark.parametrize("content", [b"[]", b'{"servers": [], "metadata": {"count": 0}}'])
def test_array_may_be_empty(tmp_path: Path, content: bytes) -> None:
    assert read_file(write_file(tmp_path / "a.json", content)) == ([], [])


@pytest.mark.parametrize(
    "content", ['{"name": "a"}'.encode("utf-16"), b"PK\x03\x04\x14\0\0\0", gzip.compress(b"\0\1", mtime=0)]
)
def test_binary_file_is_one_error(tmp_path: Path, content: bytes) -> None:
    reason = "The file is not JSON: it must be text in UTF-8, plain or compressed with gzip."
    assert read_file(write_file(tmp_path / "a.json", content + b"\n\n\n")) == ([], [(None, reason)])


def test_unreadable_file_is_an_error(tmp_path: Path) -> None:
    assert read_file(str(tmp_path)) == ([], [(None, "The file cannot be read: Is a directory.")])
    assert read_file(str(tmp_path / "none")) == ([], [(None, "The file cannot be read: No such file or directory.")])


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[int, int | None]] = []
    content = gzip.compress(A)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert list(documents(STDIN, lambda done, size: calls.append((done, size)))) == [Document("-", 1, A)]
    assert calls == [(len(content), None)]


def test_closed_standard_input_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert read_file(STDIN) == ([], [(None, "The file cannot be read: the standard input is closed.")])


def test_a_pipe_has_no_size(tmp_path: Path) -> None:
    calls: list[tuple[int, int | None]] = []
    os.mkfifo(pipe := tmp_path / "pipe")
    writer = threading.Thread(target=pipe.write_bytes, args=[A])
    writer.start()
    assert [document.body for document in documents(str(pipe), lambda done, size: calls.append((done, size)))] == [A]
    writer.join()
    assert calls == [(len(A), None)]


def test_progress_is_in_bytes_of_the_stored_file(tmp_path: Path) -> None:
    calls: list[tuple[int, int | None]] = []
    content = gzip.compress(os.urandom(100_000).hex().encode())
    list(documents(write_file(tmp_path / "a.gz", content), lambda done, size: calls.append((done, size))))
    assert len(calls) > 1
    assert calls == sorted(calls)
    assert calls[-1] == (len(content), len(content))
    assert {size for _, size in calls} == {len(content)}


def test_real_entries_are_read(shared_data: Path) -> None:
    lines = 0
    for document in documents(str(shared_data / "entries.jsonl.gz")):
        lines += 1
        assert document.line == lines
        if lines % 25 == 0:  # decoding all of them takes seconds
            decode_entry(decode(document.body))
    assert lines == 25_984
