"""Stored form of the states of targets."""

from __future__ import annotations

from typing import Any

from attrs import asdict, evolve

from ...serialization import decode_stored, encode, restore_record
from .results import PackageCheck, RemoteCheck, bounded_tools
from .targets import Target, TargetState

MAX_STORED_TOOLS = 200_000
"""Bytes of the tools that are stored of one check. Schemas beyond it are dropped, then descriptions."""


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
    is_good = value["good"] is True
    state = restore_record({**value, "target": asdict(target), "good": None if is_good else value["good"]}, TargetState)
    return evolve(state, good=state.check) if is_good and isinstance(state.check, RemoteCheck) else state


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
