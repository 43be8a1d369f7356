"""Stored forms of targets, checks and summaries."""

from __future__ import annotations

from typing import Any

from attrs import asdict, evolve

from ...serialization import decode_stored, encode, restore_record
from .results import PackageCheck, RemoteCheck, bounded_tools
from .summaries import Verification
from .targets import PastCheck, Target, TargetKind, TargetState
from .tool_changes import ToolChange

MAX_STORED_TOOLS = 200_000
"""Bytes of the tools that are stored of one check. Schemas beyond it are dropped, then descriptions."""


def encode_target(target: Target) -> bytes:
    """Return the stored form of `target`."""
    return encode(asdict(target))


def restore_target(body: bytes) -> Target:
    """Return the target of `body`, the output of `encode_target`."""
    return restore_record(decode_stored(body), Target)


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
    value: dict[str, Any] = decode_stored(body)
    cls = RemoteCheck if target.kind is TargetKind.REMOTE else PackageCheck
    check: Any = _structure(value["check"], cls)
    good: Any = check if value["good"] is True else _structure(value["good"], RemoteCheck)
    history = tuple(restore_record(each, PastCheck) for each in value["history"])
    failing = value["failures"], value["failing_since"], bool(value["is_down"])
    changes = tuple(restore_record(each, ToolChange) for each in value.get("tool_changes", ()))
    # A state that was stored before packages had texts has none.
    return TargetState(
        target, check, good, *failing, history, value.get("texts", ""), value.get("known_tools"), changes
    )


def encode_verification(verification: Verification) -> bytes:
    """Return the stored form of the summary of an entry's checks."""
    return encode(asdict(verification))


def restore_verification(body: bytes) -> Verification:
    """Return the summary of an entry's checks from `body`."""
    return restore_record(decode_stored(body), Verification)


def _structure(value: Any, cls: Any) -> Any:
    return None if value is None else restore_record(value, cls)


def _bounded(check: Any) -> Any:
    """Return a check with tools of at most MAX_STORED_TOOLS bytes, as `bounded_tools` bounds them."""
    if not isinstance(check, RemoteCheck):
        return check
    kept = list(bounded_tools(check.tools))
    left = MAX_STORED_TOOLS - sum(len(tool.name.encode()) + 1 for tool in kept)
    for text in ("title", "takes", "description", "input_schema"):
        for number, tool in enumerate(kept):
            size = len(getattr(tool, text).encode())
            if size > left:
                emptied: Any = {text: ""}
                kept[number] = evolve(tool, **emptied)
            else:
                left -= size
    return evolve(check, tools=tuple(kept))
