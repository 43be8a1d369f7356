"""Strict JSON in, bytes out: the only room that knows what the values look like outside."""

from ._entries import decode_entry, encode_entry, fingerprint
from ._json import decode, encode, text
from ._structure import structure

__all__ = ["decode", "decode_entry", "encode", "encode_entry", "fingerprint", "structure", "text"]
