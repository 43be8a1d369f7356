"""Structure JSON values as attrs classes, with strict types."""

from __future__ import annotations

from typing import Any, TypeVar

import attrs
from cattrs import Converter, transform_error
from cattrs.errors import ClassValidationError, ForbiddenExtraKeysError

from ..domain.errors import BadInput

T = TypeVar("T")


def structure(value: Any, into: type[T], *, what: str) -> T:
    """Return `value` as an instance of the attrs class `into`.

    Raises BadInput. The message has the path, which starts with `what`, the error, and what is allowed.
    """
    if not isinstance(value, dict):
        raise BadInput(f"{what} must be an object.")
    try:
        return _CONVERTER.structure(value, into)
    except ClassValidationError as error:
        allowed = ", ".join(field.name for field in attrs.fields(into))  # type: ignore[arg-type]
        reasons = transform_error(error, path=what, format_exception=lambda e, _: _reason(e, allowed))
        # cattrs writes "reason @ path"; the path should come first.
        raise BadInput("; ".join(_place_first(reason) for reason in reasons) + ".") from None


def _place_first(reason: str) -> str:
    sentence, _, path = reason.rpartition(" @ ")
    return f"{path}: {sentence}"


def _reason(error: BaseException, allowed: str) -> str:
    match error:
        case KeyError():
            return "is required"
        case ForbiddenExtraKeysError():
            unknown = ", ".join(sorted(repr(str(name)) for name in error.extra_fields))
            return f"unknown member {unknown}; known are {allowed}"
        case _:
            return str(error)


def _require_text(value: Any, _: type) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    return value


def _require_whole_number(value: Any, _: type) -> int:
    # JSON has one kind of number and some clients write 50.0 for 50 (RFC 8259, section 6).
    if isinstance(value, bool) or not isinstance(value, int | float) or not float(value).is_integer():
        raise ValueError("must be a whole number")
    return int(value)


def _require_truth(value: Any, _: type) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


_CONVERTER = Converter(forbid_extra_keys=True)
_CONVERTER.register_structure_hook(str, _require_text)
_CONVERTER.register_structure_hook(int, _require_whole_number)
_CONVERTER.register_structure_hook(bool, _require_truth)
