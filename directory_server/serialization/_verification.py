"""Stored forms of targets, checks and verifications."""

from __future__ import annotations

from typing import Any

import orjson
from attrs import asdict, astuple, evolve
from cattrs import Converter
from cattrs.strategies import configure_union_passthrough

from ..domain.targets import PastCheck, Target, TargetKind, TargetState
from ..domain.tools import OfferedTool
from ..domain.verification import MAX_TOOL_NAMES, PackageCheck, PackageTexts, RemoteCheck
from ..domain.verified import IndexedVerification, Verification
from ._json import encode

MAX_STORED_TOOLS = 200_000
"""Bytes of the tools that are stored of one check. Schemas beyond it are dropped, then descriptions."""

_CONVERTER = Converter()
configure_union_passthrough(str | int | float | bool | None, _CONVERTER)


def encode_target(target: Target) -> bytes:
    """Return the stored form of `target`."""
    return encode(asdict(target))


def restore_target(body: bytes) -> Target:
    """Return the target of `body`, the output of `encode_target`."""
    return _CONVERTER.structure(orjson.loads(body), Target)


def encode_state(state: TargetState) -> bytes:
    """Return the stored form of what is known of a target, without the target. Its size is bounded."""
    check = state.check
    # The texts of a package are stored apart, once for all entries with it.
    stored = evolve(check, texts=None) if isinstance(check, PackageCheck) else _bounded(check)
    value = asdict(evolve(state, check=stored, good=_bounded(state.good)))
    if state.good is state.check:
        value["good"] = True
    del value["target"]
    return encode(value)


def restore_state(target: Target, body: bytes | None) -> TargetState:
    """Return the state of `target` from `body`, the output of `encode_state`."""
    if body is None:
        return TargetState(target)
    value: dict[str, Any] = orjson.loads(body)
    cls = RemoteCheck if target.kind is TargetKind.REMOTE else PackageCheck
    check: Any = _structure(value["check"], cls)
    good: Any = check if value["good"] is True else _structure(value["good"], RemoteCheck)
    history = tuple(_CONVERTER.structure(each, PastCheck) for each in value["history"])
    failing = value["failures"], value["failing_since"], bool(value["is_down"])
    # A state that was stored before packages had texts has none.
    return TargetState(target, check, good, *failing, history, value.get("texts", ""))


def encode_verification(verification: Verification | IndexedVerification) -> bytes:
    """Return the stored form of the summary of an entry's checks, or of what the index holds of it."""
    value = asdict(verification)
    if isinstance(verification, IndexedVerification):
        value["tools"] = [*map(astuple, verification.tools)]
        # As before there were texts: another form would be a change of every entry.
        if not verification.texts:
            del value["texts"]
    return encode(value)


def restore_verification(body: bytes) -> Verification:
    """Return the summary of an entry's checks from `body`."""
    return _CONVERTER.structure(orjson.loads(body), Verification)


def restore_indexed(body: bytes) -> IndexedVerification:
    """Return what the index holds of a verification from `body`."""
    value = orjson.loads(body)
    # Tools that were stored before they had titles are pairs of name and description.
    tools = ((name, "", *rest) if len(rest) == 1 else (name, *rest) for name, *rest in value["tools"])
    found = _CONVERTER.structure({**value, "tools": ()}, IndexedVerification)
    return evolve(found, tools=tuple(OfferedTool(*each) for each in tools))


def encode_texts(texts: PackageTexts) -> bytes:
    """Return the stored form of the texts of a package, at most 13,000 bytes."""
    return encode([texts.summary, texts.keywords, texts.readme])


def restore_texts(body: bytes) -> PackageTexts:
    """Return the texts of a package from `body`, the output of `encode_texts`."""
    summary, keywords, readme = orjson.loads(body)
    return PackageTexts(summary, tuple(keywords), readme)


def indexed_status(body: bytes) -> str:
    """Return the status in what the index holds of a verification."""
    return str(orjson.loads(body)["status"])


def _structure(value: Any, cls: Any) -> Any:
    return None if value is None else _CONVERTER.structure(value, cls)


def _bounded(check: Any) -> Any:
    """Return a check with tools of at most MAX_STORED_TOOLS bytes, of which MAX_TOOL_NAMES are names."""
    if not isinstance(check, RemoteCheck):
        return check
    names, kept = 0, list(check.tools)
    for number, tool in enumerate(check.tools):
        names += len(tool.name.encode()) + 1
        if names > MAX_TOOL_NAMES:
            del kept[number:]
            break
    left = MAX_STORED_TOOLS - min(names, MAX_TOOL_NAMES)
    for text in ("title", "takes", "description", "input_schema"):
        for number, tool in enumerate(kept):
            size = len(getattr(tool, text).encode())
            if size > left:
                emptied: Any = {text: ""}
                kept[number] = evolve(tool, **emptied)
            else:
                left -= size
    return evolve(check, tools=tuple(kept))
