"""A Git repository with one text, over smart HTTP: the source of all plugins.

Claude Code clones the source of a plugin. A marketplace at a URL cannot name a source of its own files, and the
repository of a publisher could have hooks that run. So the plugin is in the marketplace file, and its source is one
commit with one text, because an update fails without files.
Sources: gitprotocol-http(5), gitprotocol-pack(5) version 0, gitformat-pack(5).
"""

from __future__ import annotations

import hashlib
import zlib


def _object(kind: bytes, body: bytes) -> bytes:
    return hashlib.sha1(b"%s %d\0%s" % (kind, len(body), body), usedforsecurity=False).hexdigest().encode()


def _packed(kind: int, body: bytes) -> bytes:
    """Return an object of a pack: its kind and size, seven bits in a byte after the first four, and its body."""
    size, head = len(body) >> 4, [kind << 4 | len(body) & 15]
    while size:
        head[-1] |= 128
        head.append(size & 127)
        size >>= 7
    return bytes(head) + zlib.compress(body)


def _line(text: bytes) -> bytes:
    return b"%04x%s" % (len(text) + 4, text)


_FLUSH = b"0000"

TEXT = b"The plugin is in the marketplace file.\n"

_TREE_BODY = b"100644 README.md\0" + bytes.fromhex(_object(b"blob", TEXT).decode())

_COMMIT_BODY = b"tree %s\nauthor directory <> 0 +0000\ncommitter directory <> 0 +0000\n\n%s" % (
    _object(b"tree", _TREE_BODY),
    TEXT,
)

COMMIT = _object(b"commit", _COMMIT_BODY)

_OBJECTS = b"PACK\0\0\0\2\0\0\0\3" + _packed(1, _COMMIT_BODY) + _packed(2, _TREE_BODY) + _packed(3, TEXT)

_PACK = _OBJECTS + hashlib.sha1(_OBJECTS, usedforsecurity=False).digest()

REFS = (
    _line(b"# service=git-upload-pack\n")
    + _FLUSH
    + _line(b"%s HEAD\0shallow symref=HEAD:refs/heads/main\n" % COMMIT)
    + _line(b"%s refs/heads/main\n" % COMMIT)
    + _FLUSH
)
"""The response that names the commit."""


def upload_pack(request: bytes) -> bytes:
    """Return the response to a request for the commit: an empty list of shallow commits if it has a depth, the pack."""
    depth = _FLUSH if b"deepen " in request else b""
    return depth + (_line(b"NAK\n") + _PACK if b"done" in request else b"")
